/** The sections in the order they run. */
import { blockCodecs } from './block-codecs.ts';
import { files } from './files.ts';
import { products } from './gemm.ts';
import { loading } from './loading.ts';
import type { Section } from './section.ts';
import { streams } from './streams.ts';

export const SECTIONS: readonly Section[] = [blockCodecs, files, streams, products, loading];
