// Prints the list of packages of which code is in the program, or is installed with it, as CycloneDX: `npm sbom` without those that only build and test.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** In files beside the program: what `--jq` runs on, and the pages in the browser. */
const beside = ['node_modules/jq-wasm/', 'node_modules/preact/', 'node_modules/uplot/'];
const modules = Object.values(JSON.parse(readFileSync('node_modules/.cache/chunks.json', 'utf8'))).flat();
const folders = [...beside, ...modules].flatMap((id) => id.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+\//) ?? []);
const inside = new Set(
  [...new Set(folders)].map((folder) => {
    const { name, version } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'));
    return `${name}@${version}`;
  }),
);

const json = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx'], { encoding: 'utf8', maxBuffer: 2 ** 28 });
const { serialNumber: _, ...sbom } = JSON.parse(json);
const isInstalled = ({ properties = [] }) => !properties.some(({ name }) => name === 'cdx:npm:package:development');
const components = sbom.components.filter((each) => isInstalled(each) || inside.has(each['bom-ref']));
const kept = new Set([sbom.metadata.component['bom-ref'], ...components.map((each) => each['bom-ref'])]);
const dependencies = sbom.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => kept.has(each)) }));
// The same source gives the same text.
const { SOURCE_DATE_EPOCH } = process.env;
const timestamp = new Date(SOURCE_DATE_EPOCH ? Number(SOURCE_DATE_EPOCH) * 1000 : Date.now()).toISOString();
// npm names what it describes after the folder.
const component = { ...sbom.metadata.component, name: 'sotra', type: 'application' };
const metadata = { ...sbom.metadata, timestamp, component };
process.stdout.write(`${JSON.stringify({ ...sbom, metadata, components, dependencies }, null, 2)}\n`);
