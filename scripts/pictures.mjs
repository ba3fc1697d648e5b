// Makes the pictures of the README and of docs into test/pictures: pages as a browser shows them, and what commands print, each from the built program.
import { rolldown } from 'rolldown';

const external = ['playwright-core', '@sparticuz/chromium'];
const bundle = await rolldown({ input: 'scripts/pictures/make.ts', platform: 'node', external });
const file = 'node_modules/.cache/pictures.mjs';
await bundle.write({ file, format: 'esm' });
await import(`../${file}`);
