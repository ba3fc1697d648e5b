// `npm run mutate -- <area> [<file of it>]`: changes the source in one place after another and counts the changes that no test notices.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Stryker } from '@stryker-mutator/core';

const paths = (names, folder, end) => names.split(' ').map((name) => `${folder}/${name}${end}`);
const area = (files, tests) => ({ files: paths(files, 'src', '.ts'), tests: paths(tests, 'test', '.test.ts') });

/**
 * What matters most is mutated, with the tests in this process that are about it: those that start the built program see no mutant. Few
 * tests, and quick ones, since each mutant starts them anew.
 */
const areas = {
  text: area(
    'api/signed-text commands/comment/sign',
    'unit/api/signed-text unit/library/signing cli/comment/signing-vectors cli/comment/signing-text cli/comment/sign cli/comment/batch cli/comment/read cli/comment/ways',
  ),
  signature: area(
    'api/verify-signature api/checksum keys/signer',
    'cli/comment/signing-vectors cli/comment/sign unit/api/signed-text unit/api/checksum unit/library/signing process/signer-command',
  ),
  post: area('commands/comment/send-comment', 'cli/comment/ways cli/comment/post cli/comment/find-swap'),
  lots: area('sandbox/ledger/positions', 'unit/sandbox/ledger/positions unit/sandbox/ledger/positions-hyperliquid'),
  figures: area(
    'sandbox/ledger/figures lib/output/format',
    'unit/sandbox/ledger/figures unit/lib/output/format cli/leaderboard/board law/figures law/properties',
  ),
  retry: area('client/retry', 'unit/client/retry unit/client/failures unit/client/network'),
  outbox: area('lib/outbox', 'unit/lib/outbox'),
  upload: area(
    'upload/make-webhook upload/send upload/state upload/upload',
    'cli/webhook/upload cli/webhook/sync cli/webhook/upload-once cli/follow/bulk cli/webhook/list',
  ),
  webhook: area('api/webhook-signature api/signature-header', 'cli/webhook/verify unit/api/webhook-signature'),
};

// Stryker leaves out what is not there, and its score is of the rest.
const missing = Object.values(areas)
  .flatMap(({ files, tests }) => [...files, ...tests])
  .filter((path) => !existsSync(path));
if (missing.length > 0) throw new Error(`areas of mutation name files that do not exist: ${missing.join(', ')}`);

const caught = ['Killed', 'Timeout'];
const missed = ['Survived', 'NoCoverage'];
const [name = '', only] = process.argv.slice(2);
const chosen = areas[name];
if (chosen === undefined) {
  process.stderr.write(`usage: npm run mutate -- <area> [<file>]; areas: ${Object.keys(areas).join(', ')}\n`);
  process.exit(2);
}

const startedMs = Date.now();
const mutants = await mutate({ ...chosen, files: only === undefined ? chosen.files : [only] });
const report = [...survivors(mutants), '', ...table(mutants), '', `${Math.round((Date.now() - startedMs) / 1000)} s`];
mkdirSync('node_modules/.cache', { recursive: true });
writeFileSync(`node_modules/.cache/mutate-${name}.txt`, `${report.join('\n')}\n`);
process.stdout.write(`${report.join('\n')}\n`);

/** Every mutant of some files with what became of it. It runs in a copy of the project, beside which the shared data lies as here. */
async function mutate({ files, tests }) {
  process.env.SOTRA_MUTATED = files.join(' ');
  const folder = mkdtempSync(join(tmpdir(), 'sotra-mutate-'));
  if (existsSync('../shared')) symlinkSync(resolve('../shared'), join(folder, 'shared'));
  try {
    const stryker = new Stryker({
      mutate: files,
      testFiles: tests,
      testRunner: 'vitest',
      plugins: [
        fileURLToPath(import.meta.resolve('@stryker-mutator/vitest-runner')),
        resolve('test/prove/mutate-texts.mjs'),
      ],
      ignorers: ['texts'],
      vitest: { configFile: 'test/prove/mutate.config.ts', related: false },
      coverageAnalysis: 'perTest',
      ignoreStatic: true,
      concurrency: 1,
      timeoutMS: 5000,
      timeoutFactor: 2,
      disableTypeChecks: false,
      // Threads and data are those of the build.
      ignorePatterns: ['bench', 'completions'],
      tempDirName: folder,
      incremental: true,
      incrementalFile: `node_modules/.cache/mutate-${name}.json`,
      allowEmpty: true,
      reporters: ['progress-append-only'],
      logLevel: 'warn',
      tsconfigFile: 'none.json',
    });
    return await stryker.runMutationTest();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One line a mutant that no test noticed: place, what stood there, what replaced it. */
function survivors(all) {
  return all
    .filter(({ status }) => missed.includes(status))
    .map(({ fileName, location: { start, end }, status, replacement = '' }) => {
      const lines = readFileSync(fileName, 'utf8')
        .split('\n')
        .slice(start.line - 1, end.line);
      const text = lines.join('\n').slice(start.column - 1, lines.length === 1 ? end.column - 1 : undefined);
      const one = (part) => part.replace(/\s+/g, ' ').slice(0, 90);
      return `${relative('.', fileName)}:${start.line}:${start.column} ${status === 'NoCoverage' ? 'not run: ' : ''}${one(text)}  =>  ${one(replacement)}`;
    });
}

/** A line a file, then one for all of them; texts and what runs once at start are counted, but not judged. */
function table(all) {
  const files = [...new Set(all.map(({ fileName }) => fileName))].sort();
  const row = (label, own) => {
    const count = (statuses) => own.filter(({ status }) => statuses.includes(status)).length;
    const [killed, survived] = [count(caught), count(missed)];
    const others = count(['Ignored']);
    const score = killed + survived === 0 ? '-' : `${((100 * killed) / (killed + survived)).toFixed(1)} %`;
    return [label, killed + survived, killed, survived, others, score];
  };
  const rows = [
    ['file', 'mutants', 'killed', 'survived', 'not judged', 'score'],
    ...files.map((file) =>
      row(
        relative('.', file),
        all.filter(({ fileName }) => fileName === file),
      ),
    ),
    row('total', all),
  ];
  return rows.map((cells) => `| ${cells.join(' | ')} |`);
}
