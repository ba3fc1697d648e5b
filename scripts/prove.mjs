// `npm run prove`: what CI proves. `-- --all`: everything that takes too long for each edit. `-- <file>`: that file, whole.
import { spawnSync } from 'node:child_process';

const words = process.argv.slice(2);
const files = words.filter((word) => word !== '--all');
const all = files.length < words.length || files.some((word) => !word.startsWith('-'));
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '-c', 'test/prove/vitest.config.ts', ...files],
  { stdio: 'inherit', env: { ...process.env, SOTRA_PROVE_ALL: all ? '1' : '0' } },
);
process.exitCode = status ?? 1;
