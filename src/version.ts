/**
 * The version of this package, in the one place where code can read it; a test compares it with package.json.
 * @module
 */
export const VERSION = '0.1.0';
