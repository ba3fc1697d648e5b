import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

interface Import {
  from: string;
  to: string;
  typeOnly: boolean;
}

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.d.ts'))
  .map((name) => join('src', name).replaceAll('\\', '/'));

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  const found = [
    ...text.matchAll(/(?:^|\n)(?:import|export)\s+(type\s+)?[^;'"]*?from\s+'([^']+)'|import(?:\(\s*|\s+)'([^']+)'/g),
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

/** The table of rooms in ARCHITECTURE.md, by folder of src: what each may import, as its last column says it. */
const rooms = new Map(
  [...readFileSync('ARCHITECTURE.md', 'utf8').matchAll(/^\| `src\/([\w/]*)` \|.*\| (.*) \|$/gm)].map(
    ([, room = '', column = '']) => [room, column],
  ),
);

/** The room that a file lies in. */
function roomOf(path: string): string {
  const around = [...rooms.keys()].filter((room) => room !== '' && within(path, room));
  return around.sort((a, b) => b.length - a.length)[0] ?? '';
}

interface Allowed {
  name: string;
  andRooms: boolean;
}

/** The names that a last column allows, without the room that it names with "as". */
function namesIn(column: string): Allowed[] {
  const names = column.matchAll(/(as )?`([\w/-]+)`( and its rooms)?/g);
  return [...names].flatMap(([, as, name = '', andRooms]) =>
    as === undefined ? [{ name, andRooms: andRooms !== undefined }] : [],
  );
}

/** Whether a name of a last column means a file: itself, or one in the room or folder of that name. */
function isMeant({ name, andRooms }: Allowed, path: string): boolean {
  const isFolder = andRooms || !rooms.has(name);
  return path === `src/${name}.ts` || roomOf(path) === name || (isFolder && within(path, name));
}

/** The room that another is like, which its row names with "as". */
const exampleFor = (room: string) => /as `([\w/]+)`/.exec(rooms.get(room) ?? '')?.[1];

/** Whether a room may import a file by the last column of its row, or of the row that it names with "as". */
function mayImport(room: string, one: Import, own = room): boolean {
  const column = rooms.get(room) ?? '';
  const [values = ''] = column.split('types of');
  const example = exampleFor(room);
  return (
    within(one.to, own) ||
    (column.includes('all rooms') && roomOf(one.to) !== '') ||
    (example !== undefined && mayImport(example, one, own)) ||
    namesIn(one.typeOnly ? column : values).some((name) => isMeant(name, one.to))
  );
}

test.each([...rooms.keys()].filter((room) => room !== ''))('%s/ imports only what ARCHITECTURE.md says', (room) => {
  const own = imports.filter((one) => roomOf(one.from) === room && ours(one));
  expect(own.filter((one) => !mayImport(room, one)).map(say)).toEqual([]);
});

test('no row of ARCHITECTURE.md allows what its room does not import', () => {
  const unused = [...rooms].flatMap(([room, column]) => {
    const alike = [room, ...[...rooms.keys()].filter((other) => exampleFor(other) === room)];
    const own = imports.filter((one) => alike.includes(roomOf(one.from)));
    const names = namesIn(column).filter((name) => !own.some((one) => isMeant(name, one.to)));
    return names.map(({ name }) => `${room}: ${name}`);
  });
  expect(unused).toEqual([]);
});

test('a resource keeps to itself: contract, view and sandbox do not mix', () => {
  const nounOf = (path: string) => /^src\/resources\/([^/]+)\//.exec(path)?.[1];
  const own = imports.filter((one) => nounOf(one.from) !== undefined && ours(one));
  // A comment without a swap is about one of the signer's feed.
  const allowed = ['src/resources/comment/find-swap.ts -> src/resources/feed/endpoints.ts'];
  const abroad = own
    .filter((one) => nounOf(one.to) !== undefined && nounOf(one.to) !== nounOf(one.from))
    .filter((one) => !allowed.includes(say(one)));
  expect(abroad.map(say)).toEqual([]);
  const part = (name: string, may: readonly string[]) =>
    own
      .filter((one) => one.from.endsWith(`/${name}`) && nounOf(one.to) === undefined)
      .filter((one) => !may.some((prefix) => one.to.startsWith(`src/${prefix}`)))
      .map(say);
  expect(part('endpoints.ts', ['contract/', 'model/'])).toEqual([]);
  expect(part('view.ts', ['output/', 'model/'])).toEqual([]);
  expect(part('sandbox.ts', ['sandbox/', 'model/', 'errors.ts'])).toEqual([]);
});

test('no file imports in a circle, type imports included', () => {
  const targetsOf = (file: string) => imports.filter((one) => one.from === file && ours(one)).map(({ to }) => to);
  const done = new Set<string>();
  const circleFrom = (file: string, way: readonly string[]): readonly string[] | undefined => {
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
    if (done.has(file)) return undefined;
    const circle = targetsOf(file)
      .map((to) => circleFrom(to, [...way, file]))
      .find(Boolean);
    done.add(file);
    return circle;
  };
  expect(files.map((file) => circleFrom(file, [])).find(Boolean)).toBeUndefined();
});

test('the rooms of ARCHITECTURE.md are the folders of src', () => {
  const folders = readdirSync('src', { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).replaceAll('\\', '/').slice('src/'.length))
    .filter((folder) => !/^resources\/[^/]+$/.test(folder));
  expect([...rooms.keys()].sort()).toEqual(['', ...folders].sort());
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

test('no text of a package is replaced while bundling', () => {
  const builds = readdirSync('bin', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const replacing = ['rolldown.config.ts', ...builds.map((name) => join('bin', name))].filter((file) =>
    readFileSync(file, 'utf8').includes('replacePlugin'),
  );
  expect(replacing).toEqual([]);
});

test('the process and the console are touched at the process edge alone, and nothing keeps module state', () => {
  const edge = files.filter((file) => file !== 'src/main.ts');
  const touching = edge.filter((file) =>
    /\bprocess\.|\bconsole\./.test(readFileSync(file, 'utf8').replaceAll(/\/\/.*|\/\*[\s\S]*?\*\//g, '')),
  );
  expect(touching).toEqual([]);
  expect(files.filter((file) => /^(let|var) /m.test(readFileSync(file, 'utf8')))).toEqual([]);
});

test('a function is named by a verb, and an exported name has one meaning', () => {
  const texts = files.map((file) => ({ file, text: readFileSync(file, 'utf8') }));
  const nouns = texts.flatMap(({ file, text }) =>
    [...text.matchAll(/(?:function\*?|const) ([a-z]\w*Of)\b(?=\(|<| = (?:async )?\()/g)].map(
      ([, name]) => `${file} ${name}`,
    ),
  );
  expect(nouns).toEqual([]);
  // An endpoint has its view and handler under its own name, and each store of an inbox answers the same questions.
  const isOfNoun = (file: string) => /^src\/resources\/\w+\/(?:endpoints|view|sandbox)\.ts$/.test(file);
  const places = new Map<string, Set<string>>();
  for (const { file, text } of texts)
    for (const [, name = ''] of text.matchAll(/^export (?:async )?(?:function\*?|const) (\w+)/gm))
      if (!isOfNoun(file) && !['commands', 'views'].includes(name))
        places.set(name, (places.get(name) ?? new Set()).add(file.replace(/inbox\/(?:embedded|nats)\/.*/, 'a store')));
  expect([...places].flatMap(([name, where]) => (where.size > 1 ? [[name, ...where]] : []))).toEqual([]);
});

test('no file is over 400 lines, and one in ten at most over 300', () => {
  const lengths = files.map((file) => readFileSync(file, 'utf8').split('\n').length).sort((a, b) => a - b);
  expect(lengths.at(-1)).toBeLessThanOrEqual(400);
  expect(lengths[Math.floor(lengths.length * 0.9)]).toBeLessThanOrEqual(300);
});

/**
 * How many lines each room may have; `src` is the files that lie in none. They only go down: raising a number needs a
 * reason in the commit.
 */
const maxLines: Readonly<Record<string, number>> = {
  src: 1260,
  backtest: 440,
  cli: 1705,
  contract: 942,
  files: 1260,
  http: 1512,
  inbox: 5398,
  keys: 1123,
  library: 775,
  log: 2513,
  mcp: 1040,
  model: 1274,
  output: 2217,
  pages: 5152,
  report: 296,
  resources: 6803,
  sandbox: 6926,
  setup: 1675,
  tool: 2501,
  upload: 1690,
  watch: 384,
};

test('no room has more lines than it may', () => {
  const counts = new Map<string, number>();
  for (const file of files) {
    const [, room = '', ...rest] = file.split('/');
    const name = rest.length === 0 ? 'src' : room;
    counts.set(name, (counts.get(name) ?? 0) + readFileSync(file, 'utf8').split('\n').length - 1);
  }
  expect([...counts.keys()].sort()).toEqual(Object.keys(maxLines).sort());
  const over = [...counts].filter(([room, lines]) => lines > (maxLines[room] ?? 0));
  expect(over, 'take something away, or raise the number in maxLines and give the reason in the commit').toEqual([]);
});

// What is thrown in one of these is caught by nobody: each place is listed with why nothing can be, and a new one fails here until it is.
const places: Record<string, string> = {
  'src/http/body.ts on': 'hands the error on to the decoder, whose reader gets it',
  'src/http/start-server.ts once': 'reject',
  'src/http/deadline.ts addEventListener': 'ends exchanges and waits',
  'src/http/deadline.ts setTimeout': 'ends the exchange',
  'src/library/fetch-transport.ts setTimeout': 'ends a wait',
  'src/keys/run-keys.ts finally': 'awaited',
  'src/resources/comment/find-swap.ts finally': 'awaited',
  'src/keys/signer.ts on': 'a closed pipe, of which the end of the command tells',
  'src/keys/open-key.ts finally': 'awaited',
  'src/log/keep-calls.ts void': 'behind a catch',
  'src/context.ts void': 'stops a spinner; that it cannot be loaded is told where it is shown',
  'src/output/progress.ts setInterval': 'behind a catch',
  'src/output/progress.ts setTimeout': 'behind a catch',
  'src/main.ts addEventListener': 'ends the stream of stdin',
  'src/main.ts new Worker': 'compileFilter waits for its answer or its error',
  'src/main.ts on': 'keeps the first error of a stream; a signal aborts or exits',
  'src/main.ts setTimeout': 'ends the process',
  'src/main.ts void': 'run catches everything and gives an exit code',
  'src/output/confirm.ts addEventListener': 'rejects the question',
  'src/output/confirm.ts on': 'rejects the question',
  'src/output/jq-thread.ts on': 'run catches what jq throws; what ends the thread reaches compileFilter as its error',
  'src/output/jq-thread.ts void': 'what ends the thread reaches compileFilter as its error',
  'src/tool/tour.ts createServer': 'it answers nobody, and that it cannot listen is thrown',
  'src/inbox/embedded/embedded-inbox.ts on': 'the commit that tells it keeps its error',
  'src/inbox/embedded/take.ts on': 'the commit that tells it keeps its error, and the look at other processes ends',
  'src/inbox/embedded/writer.ts setImmediate': 'a commit keeps its error',
  'src/inbox/embedded/writer.ts setTimeout': 'a commit keeps its error',
  'src/inbox/nats/connection.ts void': 'resolves, whatever ended it',
  'src/inbox/nats/stream.ts setTimeout': 'resolves or rejects what is awaited',
  'src/inbox/forward.ts finally': 'behind a catch, which leaves the delivery to the next start',
  'src/inbox/listener.ts createServer': 'a failure ends the one request: 500, or its connection',
  'src/inbox/listener.ts once': 'clear a timer or end an answer',
  'src/inbox/listener.ts setTimeout': 'closes connections',
  'src/sandbox/commands/control.ts setImmediate': 'aborts a signal',
  'src/sandbox/deliver/deliver.ts finally': 'behind a catch: the lane is started anew',
  'src/sandbox/http/listen.ts createServer': 'a failure ends the one request: 500, or its connection',
  'src/sandbox/http/listen.ts on': 'resolve, reject or gather bytes; what is no HTTP ends its connection',
  'src/sandbox/http/listen.ts once': 'clear a timer or end an answer',
  'src/sandbox/http/listen.ts setTimeout': 'closes a connection',
  'src/inbox/page/deliveries-app.ts setImmediate': 'resolves',
  'src/pages/live-log.ts addEventListener': 'resolves',
  'src/pages/serve.ts createServer': 'a failure ends the one request: 500, or its connection',
  'src/pages/serve.ts on': 'aborts a signal',
  'src/pages/serve.ts setInterval': 'writes to a connection, which ends',
  'src/pages/browser/ask.ts setTimeout': 'resolve',
  'src/pages/browser/ask.ts void': 'asks again whatever failed',
  'src/pages/show-address.ts addEventListener': 'removes a folder, or ends a reader',
  'src/pages/show-address.ts void': 'catches what fails',
  'src/sandbox/commands/control.ts void': 'behind a catch, or aborts a signal',
  'src/pages/browser/chart.tsx addEventListener': 'draws the chart again',
  'src/pages/browser/service.tsx void': 'a failure is told by the state of the connection',
  'src/pages/browser/deliveries.tsx setTimeout': 'shows what came, or its error',
  'src/pages/browser/deliveries.tsx void': 'shows its error',
  'src/pages/browser/form.tsx void': 'shows its error',
  'src/pages/browser/keys.tsx addEventListener': 'shows a dialog, or moves what is focused',
  'src/pages/browser/frame.ts setInterval': 'looks at the clock, or asks again, which shows its error',
  'src/pages/browser/frame.ts setTimeout': 'shows what came, or its error',
  'src/pages/browser/problems.tsx setInterval': 'counts, and asks again, which shows its error',
  'src/pages/browser/text.tsx setTimeout': 'shows a word again',
  'src/pages/browser/wallet.tsx void': 'shows its error',
  'src/pages/browser/virtual-list.tsx addEventListener': 'looks where the list is',
  'src/http/post-delivery.ts on': 'resolve with what came',
  'src/http/post-delivery.ts once': 'notes that a connection was made',
  'src/http/post-delivery.ts setTimeout': 'resolves and closes the connection',
  'src/inbox/listener.ts on': 'what hands on a request, which may fail, or a connection, which ends',
  'src/inbox/reception.ts on': 'adds to a body within its limit, or settles it',
  'src/inbox/reception.ts once': 'removes a connection, or settles a body; a failure rejects it',
};

const patterns: readonly (readonly [string, RegExp])[] = [
  ['on', /\.on\(/],
  ['once', /\.once\(/],
  ['addEventListener', /\.addEventListener\(/],
  ['setTimeout', /(?<!\.)\bsetTimeout\(/],
  ['setInterval', /\bsetInterval\(/],
  ['setImmediate', /(?<!await )\bsetImmediate\(/],
  ['queueMicrotask', /\bqueueMicrotask\(/],
  ['new Worker', /\bnew Worker\(/],
  ['createServer', /\bcreateServer\(/],
  // A promise that nobody waits for.
  ['void', /(?<!=> |return )\bvoid (?:\(|\w+[?.(])/],
  ['finally', /\.finally\(/],
];

test('every place whose errors nobody else would catch is known, and catches them', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
  const found = files.flatMap((name) => {
    const file = join('src', name);
    const code = readFileSync(file, 'utf8').replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '');
    return patterns.flatMap(([what, pattern]) => (pattern.test(code) ? [`${file} ${what}`] : []));
  });
  expect(found.sort()).toEqual(Object.keys(places).sort());
});

test('a helper of the tests is used by two files: what one uses stands in it', () => {
  const configs = ['vitest.config.ts', 'test/prove/vitest.config.ts'];
  const users = ['test', 'bench', 'bin'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name).replaceAll('\\', '/')),
  );
  const texts = [...users, ...configs].map((file) => ({ file, text: readFileSync(file, 'utf8') }));
  const helpers = readdirSync('test/support').filter((name) => /(?<!\.d)\.ts$/.test(name));
  const lonely = helpers.filter((name) => {
    const using = texts.filter(({ file, text }) => file !== `test/support/${name}` && text.includes(`/${name}'`));
    // What a run of the tests begins with is named in its settings.
    return using.length < 2 && !using.some(({ file }) => configs.includes(file));
  });
  expect(lonely).toEqual([]);
});

test('folders are made in one place: by itself Node waits for ever in a parent that takes none', () => {
  const making = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .filter((file) => /mkdir(Sync)?\([^;]*recursive/.test(readFileSync(join('src', file), 'utf8')));
  expect(making).toEqual([]);
});
