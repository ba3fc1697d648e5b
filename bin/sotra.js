#!/usr/bin/env node
const { XDG_CACHE_HOME, LOCALAPPDATA, HOME } = process.env;
const { isAbsolute } = require('node:path');
// Since Node 22 compiled code is kept between runs, in a folder that is the user's own; where it cannot be written, it is done without.
// A relative path would have code run that lies in the current folder.
const caches = [XDG_CACHE_HOME, LOCALAPPDATA, HOME && `${HOME}/.cache`].find((place) => place && isAbsolute(place));
if (caches) require('node:module').enableCompileCache?.(`${caches}/sotra/compiled`);
require('../dist/main.cjs');
