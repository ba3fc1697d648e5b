// Runs in the executable: loads the program's files from the executable itself, as Node loads them from dist.
const { getAsset } = require('node:sea');
const { constants, Script } = require('node:vm');
const { workerData } = require('node:worker_threads');

const modules = new Map();

function load(name) {
  const known = modules.get(name);
  if (known !== undefined) return known.exports;
  const module = { exports: {} };
  modules.set(name, module);
  const text = `(function (exports, require, module, __filename) {${getAsset(name, 'utf8')}\n})`;
  // What is imported when it is needed are modules of Node; all else is required.
  const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  const run = new Script(text, { filename: name, importModuleDynamically }).runInThisContext();
  run(module.exports, (id) => (id.startsWith('./') ? load(id.slice('./'.length)) : require(id)), module, __filename);
  return module.exports;
}

// A thread is told which file is its own.
load(workerData ?? 'main.cjs');
