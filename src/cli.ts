#!/usr/bin/env node
import { run } from './cli/program.ts';

await run(process.argv.slice(2));
