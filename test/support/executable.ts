import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

// With SOTRA_BIN=<executable>, what tests start as `node bin/sotra.js ...` is that executable: `exec` keeps process, signals and streams. This
// runs before each file of tests, and Node's own path is known before the first.
const { SOTRA_BIN: executable } = process.env;
const folder = resolve('node_modules/.cache/executable');
const node = join(folder, 'node');

if (executable !== undefined && process.execPath !== node) {
  const script = `#!/bin/sh
case $1 in bin/sotra.js | ${resolve('bin/sotra.js')}) shift; exec '${resolve(executable)}' "$@" ;; esac
exec '${process.execPath}' "$@"
`;
  mkdirSync(folder, { recursive: true });
  // Others run it meanwhile.
  const draft = join(folder, `node-${process.pid}`);
  writeFileSync(draft, script, { mode: 0o755 });
  renameSync(draft, node);
  process.execPath = node;
}
