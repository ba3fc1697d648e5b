// `npm run prove`: what CI proves, after the tests that start the program. `-- --all`: everything that takes too long for each edit. `-- <file>`: that file, whole.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';

const words = process.argv.slice(2);
const files = words.filter((word) => word !== '--all');
const all = files.length < words.length || files.some((word) => !word.startsWith('-'));
const seed = process.env.FUZZ_SEED ?? String(randomInt(2 ** 31));
process.stdout.write(`random values of seed ${seed}; the same again with FUZZ_SEED=${seed}\n`);

const run = (...argv) => {
  const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...argv], {
    stdio: 'inherit',
    env: { ...process.env, SOTRA_PROVE_ALL: all ? '1' : '0', FUZZ_SEED: seed },
  });
  if (status !== 0) process.exitCode = status ?? 1;
};

// All of their cases are among the proofs of `--all`.
if (!all) run('test/process', '--outputFile.json=node_modules/.cache/process-report.json');
run('-c', 'test/prove/vitest.config.ts', ...files);
