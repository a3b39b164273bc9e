/**
 * What is made once for a policy and kept, by the values of its parameters. Tables take up to 300 KiB a policy, so only some
 * are kept: a run over all policies makes them again instead of filling memory.
 * @module
 */

const KEPT = 32;

/** The same as `make`, which is asked again only for a policy that was not among the last 32 that were made. */
export function perPolicy<P extends object, T>(make: (policy: P) => T): (policy: P) => T {
  const byValues = new Map<string, T>();
  // Where the very same object comes again, as in a stream, its values need not be read.
  let lastPolicy: P | undefined;
  let last: T;
  return (policy) => {
    if (policy === lastPolicy) return last;
    const key = Object.entries(policy)
      .map(([name, value]) => `${name}=${value}`)
      .sort()
      .join();
    let made = byValues.get(key);
    if (made === undefined) {
      made = make(policy);
      if (byValues.size === KEPT) byValues.delete(byValues.keys().next().value!);
      byValues.set(key, made);
    }
    lastPolicy = policy;
    last = made;
    return made;
  };
}
