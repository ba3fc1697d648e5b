// `npm run build`: the bundle of rolldown.config.ts, with one line for what rolldown itself would say in two hundred.
import { rolldown } from 'rolldown';
import { loadConfig } from 'rolldown/config';

const startedMs = performance.now();
const { output, ...input } = await loadConfig('rolldown.config.ts');
const build = await rolldown(input);
const written = await build.write(output);
await build.close();
const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
process.stdout.write(`built ${written.output.length} files in ${output.dir} in ${seconds} s\n`);
