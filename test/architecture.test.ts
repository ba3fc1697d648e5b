import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

interface Import {
  from: string;
  to: string;
  typeOnly: boolean;
}

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
  .map((name) => join('src', name).replaceAll('\\', '/'));

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  const found = [
    ...text.matchAll(/(?:^|\n)(?:import|export)\s+(type\s+)?[^;'"]*?from\s+'([^']+)'|import\(\s*'([^']+)'/g),
  ];
  return found.map((match) => {
    const name = match[2] ?? match[3] ?? '';
    const to = name.startsWith('.') ? normalize(join(dirname(file), name)).replaceAll('\\', '/') : name;
    return { from: file, to, typeOnly: match[1] !== undefined };
  });
}

const imports = files.flatMap(importsOf);
const within = (path: string, folder: string) => path.startsWith(`src/${folder}/`);
const ours = (one: Import) => one.to.startsWith('src/');
const say = ({ from, to }: Import) => `${from} -> ${to}`;

/** Folders that files in a folder may import from; types may come from anywhere that `types` names. */
const rules: readonly { folder: string; may: readonly string[]; types?: readonly string[] }[] = [
  { folder: 'model', may: ['model/'] },
  { folder: 'api', may: ['api/', 'errors.ts', 'model/'] },
  { folder: 'output', may: ['output/'] },
  {
    folder: 'cli',
    may: ['cli/', 'api/endpoint.ts', 'api/kind.ts', 'api/kind-of.ts', 'api/paginate.ts', 'errors.ts', 'model/'],
    types: ['output/', 'context.ts'],
  },
  {
    folder: 'sandbox',
    may: ['sandbox/', 'api/endpoint.ts', 'api/request.ts', 'errors.ts', 'model/'],
  },
];

for (const { folder, may, types = [] } of rules)
  test(`${folder}/ imports only what it may`, () => {
    const allowed = (one: Import) =>
      may.some((prefix) => one.to.startsWith(`src/${prefix}`)) ||
      (one.typeOnly && types.some((prefix) => one.to.startsWith(`src/${prefix}`)));
    const own = imports.filter((one) => within(one.from, folder) && ours(one));
    expect(own.filter((one) => !allowed(one)).map(say)).toEqual([]);
  });

test('a resource keeps to itself: contract, view and sandbox do not mix', () => {
  const nounOf = (path: string) => /^src\/resources\/([^/]+)\//.exec(path)?.[1];
  const own = imports.filter((one) => nounOf(one.from) !== undefined && ours(one));
  const abroad = own.filter((one) => nounOf(one.to) !== undefined && nounOf(one.to) !== nounOf(one.from));
  expect(abroad.map(say)).toEqual([]);
  const part = (name: string, may: readonly string[], types: readonly string[] = []) =>
    own
      .filter((one) => one.from.endsWith(`/${name}`) && nounOf(one.to) === undefined)
      .filter((one) => !may.some((prefix) => one.to.startsWith(`src/${prefix}`)))
      .filter((one) => !(one.typeOnly && types.some((prefix) => one.to.startsWith(`src/${prefix}`))))
      .map(say);
  expect(part('endpoints.ts', ['api/endpoint.ts', 'model/'])).toEqual([]);
  expect(part('view.ts', ['output/', 'model/', 'resources/cards.ts'])).toEqual([]);
  expect(part('sandbox.ts', ['sandbox/', 'model/'])).toEqual([]);
  const shared = imports.filter((one) => one.from === 'src/resources/cards.ts');
  expect(shared.filter((one) => !['src/output/', 'src/model/'].some((each) => one.to.startsWith(each)))).toEqual([]);
});

test('each outside package is imported by one file', () => {
  const packages = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    if (to.startsWith('src/') || to.startsWith('node:') || to.endsWith('.json')) continue;
    const name = to
      .split('/')
      .slice(0, to.startsWith('@') ? 2 : 1)
      .join('/');
    packages.set(name, (packages.get(name) ?? new Set()).add(from));
  }
  // zod is the language of contracts; every file that states one speaks it.
  const several = [...packages].filter(([name, users]) => users.size > 1 && name !== 'zod');
  expect(several.map(([name, users]) => [name, [...users]])).toEqual([]);
});

test('the process and the console are touched at the process edge alone, and nothing keeps module state', () => {
  const edge = files.filter((file) => file !== 'src/main.ts');
  const touching = edge.filter((file) =>
    /\bprocess\.|\bconsole\./.test(readFileSync(file, 'utf8').replaceAll(/\/\/.*|\/\*[\s\S]*?\*\//g, '')),
  );
  expect(touching).toEqual([]);
  expect(files.filter((file) => /^(let|var) /m.test(readFileSync(file, 'utf8')))).toEqual([]);
});

test('no file is over 400 lines, and one in ten at most over 250', () => {
  const lengths = files.map((file) => readFileSync(file, 'utf8').split('\n').length).sort((a, b) => a - b);
  expect(lengths.at(-1)).toBeLessThanOrEqual(400);
  expect(lengths[Math.floor(lengths.length * 0.9)]).toBeLessThanOrEqual(250);
});
