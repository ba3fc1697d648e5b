#!/usr/bin/env node
const { existsSync } = require('node:fs');
const { isAbsolute, join } = require('node:path');

const { XDG_CACHE_HOME, LOCALAPPDATA, HOME } = process.env;
// Since Node 22 compiled code is kept between runs, in a folder that is the user's own; where it cannot be written, it is done without.
// A relative path would have code run that lies in the current folder.
const caches = [XDG_CACHE_HOME, LOCALAPPDATA, HOME && `${HOME}/.cache`].find((place) => place && isAbsolute(place));
if (caches) require('node:module').enableCompileCache?.(`${caches}/sotra/compiled`);

// So that the stack of an internal error names the lines of src.
if (process.argv.includes('--verbose')) process.setSourceMapsEnabled(true);

const program = join(__dirname, '../dist/main.cjs');
if (existsSync(program)) require(program);
else {
  process.stderr.write('error: this clone of sotra is not built yet; type: npm ci && npm run build\n');
  process.exitCode = 3;
}
