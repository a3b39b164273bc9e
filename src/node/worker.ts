/**
 * The file that the worker pool starts its threads with, where not all is bundled in one.
 * @module
 */
import { parentPort } from 'node:worker_threads';
import { serve } from './worker-serve.ts';

serve(parentPort!);
