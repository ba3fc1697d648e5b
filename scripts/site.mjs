// Makes the site (`npm run site`): installs its generator, writes its pages from the documents and the commands, and builds them into
// docs/site/dist, or into the folder named.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { rolldown } from 'rolldown';

process.chdir(join(import.meta.dirname, '..'));
const site = 'docs/site';
const out = resolve(process.argv[2] ?? `${site}/dist`);
const read = (name) => readFileSync(name, 'utf8');

function run(command, argv, options = {}) {
  const { status, stdout, stderr } = spawnSync(command, argv, { encoding: 'utf8', ...options });
  if (status !== 0) throw new Error(`${command} ${argv.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

// npm writes the installed lock last, so that an interrupted install is done again.
const lockOf = (name) => (existsSync(name) ? JSON.parse(read(name)).packages : {});
const { 'node_modules/vitepress': wanted } = lockOf(`${site}/package-lock.json`);
if (lockOf(`${site}/node_modules/.package-lock.json`)['node_modules/vitepress']?.integrity !== wanted.integrity)
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', site]);

const maker = await rolldown({ input: 'scripts/site/pages.ts', platform: 'node' });
const built = resolve('node_modules/.cache/site.cjs');
await maker.write({ file: built, format: 'cjs' });
const { sitePages } = await import(built);

const { version, repository } = JSON.parse(read('package.json'));
const guides = readdirSync('docs').filter((name) => name.endsWith('.md'));
const documents = ['README.md', 'SECURITY.md', 'CHANGELOG.md', ...guides.map((name) => `docs/${name}`)];
const topics = readdirSync('src/tool/pages').map((name) => name.replace('.txt', ''));
const declared = readdirSync('dist/types', { recursive: true })
  .filter((name) => name.endsWith('.d.ts'))
  .sort();
const pages = sitePages(JSON.parse(read('dist/outlines.json')), {
  version,
  repository: `${repository.url.replace(/^git\+|\.git$/g, '')}/blob/v${version}`,
  documents: Object.fromEntries(documents.map((name) => [name, read(name)])),
  topics: Object.fromEntries(topics.map((name) => [name, run(process.execPath, ['bin/sotra.js', 'help', name])])),
  declarations: Object.fromEntries(declared.map((name) => [name, read(`dist/types/${name}`)])),
  openapi: read('src/contract/openapi.json'),
});

rmSync(`${site}/pages`, { recursive: true, force: true });
for (const [name, text] of Object.entries(pages)) {
  mkdirSync(dirname(`${site}/pages/${name}`), { recursive: true });
  writeFileSync(`${site}/pages/${name}`, text);
}
cpSync('test/pictures', `${site}/pages/pictures`, { recursive: true });
mkdirSync(`${site}/pages/public`);
cpSync('src/contract/openapi.json', `${site}/pages/public/openapi.json`);
rmSync(out, { recursive: true, force: true });
run(process.execPath, [`${site}/node_modules/vitepress/bin/vitepress.js`, 'build', site, '--outDir', out], {
  env: { ...process.env, SOTRA_SITE_VERSION: version },
});
process.stdout.write(`${Object.keys(pages).length} pages in ${out}\n`);
