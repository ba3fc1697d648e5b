// `npm run executables [-- linux-x64 ... --unpacked]`: the program with Node in one file, for each platform, packed for a release in `release`.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const nodes = JSON.parse(readFileSync('scripts/executables/nodes.json', 'utf8'));
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const cache = 'node_modules/.cache/executables';
const release = 'release';

/** Node for a platform, from its package: the version and the bytes that nodes.json says. */
function fetchNode(platform) {
  const { package: name, version, integrity } = nodes[platform];
  const folder = join(cache, `${name}-${version}`);
  const node = join(folder, 'bin', platform.startsWith('win') ? 'node.exe' : 'node');
  if (existsSync(node)) return node;
  execFileSync('npm', ['pack', '--silent', '--pack-destination', cache, `${name}@${version}`], { stdio: 'pipe' });
  const archive = `${folder}.tgz`;
  const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (found !== integrity) throw new Error(`${archive} has ${found}, and nodes.json says ${integrity}`);
  // Whole or not at all: what is there is taken for whole the next time.
  const draft = `${folder}.draft`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft);
  execFileSync('tar', ['-xzf', archive, '-C', draft, '--strip-components=1', 'package']);
  renameSync(draft, folder);
  rmSync(archive);
  return node;
}

/** What the program reads at run time, by the names that it asks for. */
function listAssets() {
  const assets = { 'start.cjs': 'scripts/executables/start.cjs' };
  const add = (name, file) => {
    assets[name] = file;
  };
  for (const name of readdirSync('dist')) if (/\.(?:cjs|json|br)$/.test(name)) add(name, `dist/${name}`);
  for (const folder of ['web', 'topics'])
    for (const name of readdirSync(`dist/${folder}`)) add(`${folder}/${name}`, `dist/${folder}/${name}`);
  for (const name of readdirSync('completions')) add(`../completions/${name}`, `completions/${name}`);
  return assets;
}

function build(platform, folder) {
  const output = join(folder, platform.startsWith('win') ? 'sotra.exe' : 'sotra');
  const config = join(cache, `${platform}.json`);
  const settings = {
    main: 'scripts/executables/start.cjs',
    output,
    executable: fetchNode(platform),
    disableExperimentalSEAWarning: true,
    assets: listAssets(),
  };
  writeFileSync(config, JSON.stringify(settings));
  // Node of another version would write what the target cannot read.
  execFileSync(fetchNode('linux-x64'), [`--build-sea=${config}`], { stdio: 'pipe' });
  chmodSync(output, 0o755);
}

/** Packs a folder of `release`, readable for everyone and owned by no local user. */
function pack(name, platform) {
  execFileSync('chmod', ['-R', 'u=rwX,go=rX', name], { cwd: release });
  const [archive, command, argv] = platform.startsWith('win')
    ? [`${name}.zip`, 'zip', ['-q', '-X', '-r', `${name}.zip`, name]]
    : [`${name}.tar.xz`, 'tar', ['-cJf', `${name}.tar.xz`, '--owner=0', '--group=0', '--numeric-owner', name]];
  rmSync(join(release, archive), { force: true });
  execFileSync(command, argv, { cwd: release });
  return archive;
}

const wanted = process.argv.slice(2).filter((word) => word !== '--unpacked');
const isPacked = !process.argv.includes('--unpacked');
const unknown = wanted.filter((platform) => !(platform in nodes));
if (unknown.length > 0) throw new Error(`no such platform: ${unknown}; there are ${Object.keys(nodes).join(', ')}`);
execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
mkdirSync(cache, { recursive: true });
mkdirSync(release, { recursive: true });
for (const platform of wanted.length > 0 ? wanted : Object.keys(nodes)) {
  const name = `sotra-${version}-${platform}`;
  const folder = join(release, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  build(platform, folder);
  for (const file of ['README.md', 'LICENSE']) cpSync(file, join(folder, file));
  cpSync(join(fetchNode('linux-x64'), '../../LICENSE'), join(folder, 'LICENSE-node'));
  cpSync('completions', join(folder, 'completions'), { recursive: true });
  if (isPacked) {
    const archive = pack(name, platform);
    rmSync(folder, { recursive: true });
    process.stdout.write(`${archive}: ${(statSync(join(release, archive)).size / 1e6).toFixed(1)} MB\n`);
  } else process.stdout.write(`${folder}\n`);
}
