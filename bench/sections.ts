/** The sections in the order they run. */
import { blockCodecs } from './block-codecs.ts';
import { loading } from './loading.ts';
import type { Section } from './section.ts';

export const SECTIONS: readonly Section[] = [blockCodecs, loading];
