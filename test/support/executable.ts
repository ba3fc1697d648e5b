import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

// With SOTRA_BIN=<executable>, what tests start as `node bin/sotra.js ...` is that executable: `exec` keeps process, signals and streams.
const { SOTRA_BIN: executable } = process.env;

if (executable !== undefined) {
  const folder = resolve('node_modules/.cache/executable');
  const node = join(folder, 'node');
  const script = `#!/bin/sh
case $1 in bin/sotra.js | ${resolve('bin/sotra.js')}) shift; exec '${resolve(executable)}' "$@" ;; esac
exec '${process.execPath}' "$@"
`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(node, script, { mode: 0o755 });
  process.execPath = node;
}
