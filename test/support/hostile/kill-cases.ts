import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, tryParseJson } from '../../../src/api/json.ts';
import { openDb } from '../../../src/sandbox/db/store.ts';
import { run, type Script, stub } from '../harness.ts';
import { storedIds } from '../inbox.ts';
import { signed } from '../listening.ts';
import { manyAddresses } from '../processes.ts';
import { degen, writeKeys } from '../traders.ts';
import { until } from '../until.ts';
import { keepWebhooks } from '../upload-place.ts';
import type { KillCase } from './kill-points.ts';

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

const json = (file: string) => JSON.parse(readFileSync(file, 'utf8'));

function filesIn(folder: string, pattern: RegExp): string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => pattern.test(name)).map((name) => join(folder, name));
}

/** A service that answers JSON as the function says. */
async function answering(answer: (...of: Parameters<Script>) => unknown): Promise<Record<string, string>> {
  const { env } = await stub((seen, response, count) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer(seen, response, count)));
  });
  return env;
}

const settings: KillCase[] = ['context set own --base-url https://b.example.com', `alias set me ${degen}`].map(
  (argv) => ({
    name: argv.split(' ').slice(0, 2).join(' '),
    before: async (act) => {
      await act('context', 'set', 'old', '--base-url', 'https://a.example.com');
      await act('alias', 'set', 'them', degen);
    },
    scene: (folder) => {
      const read = () => json(join(folder, 'state', 'config.json'));
      return {
        argv: argv.split(' '),
        whole: () =>
          must(read().contexts.old.baseUrl === 'https://a.example.com' && read().aliases.them === degen, 'lost'),
        complete: () => must(argv.startsWith('alias') ? read().aliases.me === degen : read().contexts.own, 'not set'),
      };
    },
  }),
);

const keyFile = (folder: string) => join(folder, 'state', 'keys', 'k.json');

const withKey: KillCase['before'] = (act, folder) => {
  const { evm, password } = writeKeys(folder);
  return act('key', 'import', 'k', '--key-file', evm, '--password-file', password);
};

const importKey = (folder: string, ...more: string[]) => ({
  argv: ['key', 'import', 'k', '--key-file', `${folder}/evm.hex`, '--password-file', `${folder}/password`, ...more],
  complete: () => must(json(keyFile(folder)).crypto !== undefined, 'no key'),
});

/** Sealing a key takes its time, on purpose: these cases are slow. */
export const keyCases: readonly KillCase[] = [
  {
    name: 'key import',
    before: (_, folder) => void writeKeys(folder),
    scene: (folder) => ({
      ...importKey(folder),
      whole: () => (existsSync(keyFile(folder)) ? json(keyFile(folder)) : undefined),
    }),
    again: [0, 2],
  },
  {
    name: 'key import --replace',
    before: withKey,
    scene: (folder) => ({
      ...importKey(folder, '--replace'),
      whole: () => [keyFile(folder), ...filesIn(join(folder, 'state', 'keys'), /bak$/)].forEach(json),
    }),
  },
  {
    name: 'key export',
    before: withKey,
    again: [0, 2, 3],
    scene: (folder) => {
      const file = join(folder, 'state', 'out.json');
      return {
        argv: ['key', 'export', 'k', '--out', file],
        whole: () => (existsSync(file) ? json(file) : undefined),
        complete: () => must(json(file).crypto !== undefined && json(keyFile(folder)).crypto !== undefined, 'no key'),
      };
    },
  },
];

const call: KillCase = {
  name: 'leaderboard list',
  scene: async (folder) => {
    const lines = () =>
      filesIn(join(folder, 'state', 'history'), /\.ndjson$/).flatMap((file) =>
        readFileSync(file, 'utf8')
          .split('\n')
          .filter((line) => line !== ''),
      );
    return {
      argv: ['leaderboard', 'list'],
      env: await answering(() => ({ traders: [] })),
      // A line that was torn harms no other.
      whole: () => must(lines().filter((line) => tryParseJson(line) === undefined).length <= 1, 'a damaged line'),
      complete: () =>
        must(
          lines().some((line) => isObject(tryParseJson(line)) && line.includes('"status":200')),
          'no call',
        ),
    };
  },
};

const targetsOf = (text: string): string[] => [...text.matchAll(/0x[0-9a-f]{40}/g)].map(([address]) => address);

const bulk: KillCase = {
  name: 'follow bulk',
  before: (_, folder) => {
    const entries = manyAddresses(1500).map(
      (each) => `${JSON.stringify({ addressOrUid: 'ext:me', targets: [each] })}\n`,
    );
    writeFileSync(join(folder, 'follows.ndjson'), entries.join(''));
  },
  scene: async (folder) => {
    const applied = new Set<string>();
    const env = await answering(({ body }) => {
      for (const target of targetsOf(body)) applied.add(target);
      return { targetProfiles: [] };
    });
    return {
      argv: ['follow', 'bulk', '--file', join(folder, 'follows.ndjson')],
      env,
      whole: () => {
        const lines = filesIn(join(folder, 'state', 'undo'), /\.ndjson$/).flatMap((file) =>
          readFileSync(file, 'utf8')
            .split('\n')
            .filter((line) => !/^ *(#|$)/.test(line)),
        );
        const undone = lines.filter((line) => /^ *\{.*"unfollow".*\}$/.test(line));
        must(lines.length === undone.length, 'lines of the undo file are damaged');
        const known = new Set(undone.flatMap(targetsOf));
        must(
          [...applied].every((target) => known.has(target)),
          'what was sent cannot be undone',
        );
      },
      complete: () => must(applied.size === 1500, `${applied.size} of 1500 were sent`),
    };
  },
};

const destination = 'http://127.0.0.1:9/hook';

/** A service that keeps webhooks. */
async function webhooks(options: Parameters<typeof keepWebhooks>[0]) {
  const { answer, hooks, holds } = keepWebhooks(options);
  const { env } = await stub(({ method, url, body }, response) => {
    const [status, value] = answer(method, url, body);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  });
  return { env, hooks, holds };
}

/** An upload of a list to one destination, with the secret in a file. */
const uploadLine = (command: string, folder: string) => [
  ...`webhook ${command} --url ${destination} --file ${folder}/addresses.txt`.split(' '),
  ...['--secret-file', join(folder, 'state', 'secret.txt')],
];

const writeList = (folder: string, list: readonly string[]) =>
  writeFileSync(join(folder, 'addresses.txt'), `${list.join('\n')}\n`);

const many = manyAddresses(2500);

/** A registration, against a service that lists secrets or returns each only once. */
const registering = (name: string, toldOnce: boolean): KillCase => ({
  name,
  before: (_, folder) => writeList(folder, many),
  scene: async (folder) => {
    const { env, hooks, holds } = await webhooks({ toldOnce });
    const file = join(folder, 'state', 'secret.txt');
    const isKept = () =>
      filesIn(join(folder, 'state'), /secret/).some((each) => /whsec_0\n/.test(readFileSync(each, 'utf8')));
    return {
      argv: uploadLine('register', folder),
      env,
      whole: () => must(!existsSync(file) || readFileSync(file, 'utf8') === 'whsec_0\n', 'the secret is damaged'),
      complete: (_, err) => {
        must(hooks.length === 1, `${hooks.length} webhooks`);
        if (toldOnce && err.includes('its secret was in an answer that got lost'))
          return must(!isKept(), 'a secret that is there is said to be lost');
        must(holds('w-0').length === many.length, `${holds('w-0').length} addresses`);
        must(readFileSync(file, 'utf8') === 'whsec_0\n', 'no secret');
      },
    };
  },
  // What is killed between the answer and the disk has lost what the service does not tell again.
  again: toldOnce ? [0, 10] : [0],
});

/** A sync that registers, or replaces; the service allows any number of webhooks for a destination or one. */
const syncing = (name: string, replaces: boolean, onePerUrl?: number): KillCase => ({
  name,
  before: (_, folder) => writeList(folder, many),
  scene: async (folder) => {
    const { env, hooks, holds } = await webhooks(onePerUrl === undefined ? {} : { onePerUrl });
    const list = replaces ? many.slice(0, -100) : many;
    const state = join(folder, 'state');
    if (replaces) {
      const own = { ...env, SOTRA_DATA_DIR: state, SOTRA_CONFIG_DIR: state };
      const { code, err } = await run(uploadLine('sync', folder), { env: own });
      must(code === 0, err);
      writeList(folder, list);
    }
    return {
      argv: [...uploadLine('sync', folder), ...(replaces ? ['--replace', '--yes'] : [])],
      env,
      complete: () => {
        must(hooks.length === 1, `${hooks.length} webhooks`);
        const [hook] = hooks;
        must(holds(hook?.uid ?? '').join() === [...list].sort().join(), 'not the addresses of the file');
        const secrets = readFileSync(join(state, 'secret.txt'), 'utf8').split('\n');
        must(secrets[0] === hook?.secret, 'not the secret of the webhook');
        must(!replaces || (hook?.uid !== 'w-0' && secrets[1] === 'whsec_0'), 'the old secret is not accepted');
      },
    };
  },
});

const comments: KillCase = {
  name: 'comment post --file',
  before: (_, folder) => {
    writeKeys(folder);
    const lines = [1, 2, 3].map((number) => {
      const transactionHash = `0x${String(number).repeat(64)}`;
      return `${JSON.stringify({ chain: 'base', transactionHash, tokenAddress: degen, commentText: `comment ${number}` })}\n`;
    });
    writeFileSync(join(folder, 'comments.ndjson'), lines.join(''));
  },
  scene: async (folder) => {
    const posted: Record<string, unknown>[] = [];
    const env = await answering(({ method, url, body }) => {
      const hash = new URL(url, 'http://stub').searchParams.get('transactionHashes') ?? '';
      const known = posted.filter(({ transactionHash }) => transactionHash === hash);
      if (method === 'GET') return { [hash]: { comments: known, insights: [] } };
      const { signature: _, ...sent } = JSON.parse(body);
      posted.push({ uid: `c${posted.length}`, timestamp: 1, ...sent });
      return posted.at(-1);
    });
    const key = ['--key-file', join(folder, 'evm.hex'), '--service-name', 'Example'];
    return {
      argv: ['comment', 'post', '--file', join(folder, 'comments.ndjson'), ...key],
      env,
      complete: () =>
        must(posted.map(({ commentText }) => commentText).join() === 'comment 1,comment 2,comment 3', 'not each once'),
    };
  },
};

const events = ['one', 'two', 'three', 'four'];

const listen: KillCase = {
  name: 'webhook listen --forward-to',
  before: (_, folder) => writeFileSync(join(folder, 'secret'), 'whsec_test\n'),
  scene: async (folder) => {
    const [acknowledged, forwarded] = [new Set<string>(), new Set<string>()];
    const target = await stub(({ body }, response) => {
      forwarded.add(JSON.parse(body).eventId);
      response.end();
    });
    const ready = join(folder, 'state', 'ready');
    const stored = () => storedIds(join(folder, 'state'));
    return {
      argv: `webhook listen --port 0 --secret-file ${folder}/secret --ready-file ${ready} --forward-to ${target.url}`.split(
        ' ',
      ),
      meanwhile: async ({ child }) => {
        const isOver = () => child.exitCode !== null || child.signalCode !== null;
        await until(() => isOver() || existsSync(ready), 'the listener listens');
        // A killed one cannot take back what it said.
        if (isOver()) return rmSync(ready, { force: true });
        const { url } = json(ready);
        for (const eventId of events) {
          const body = JSON.stringify({ eventId, eventType: 'copyswap' });
          const answer = await fetch(url, { method: 'POST', body, headers: signed(body) }).catch(() => undefined);
          if (answer?.ok) acknowledged.add(eventId);
        }
        await until(() => isOver() || [...acknowledged].every((each) => forwarded.has(each)), 'all is forwarded');
        child.kill('SIGTERM');
        await until(isOver, 'it ends');
        rmSync(ready, { force: true });
      },
      whole: () =>
        must(
          [...acknowledged].every((each) => stored().includes(each)),
          `of ${[...acknowledged]} only ${stored()}`,
        ),
      complete: () => {
        must(stored().join() === events.join(), `stored are ${stored()}`);
        must(
          events.every((each) => forwarded.has(each)),
          `forwarded are ${[...forwarded]}`,
        );
      },
    };
  },
};

/** The commands that write a file of state, but for keys and the database. */
export const fileCases: readonly KillCase[] = [
  ...settings,
  call,
  bulk,
  registering('webhook register', false),
  registering('webhook register, its secret told once', true),
  syncing('webhook sync', false),
  syncing('webhook sync --replace', true),
  syncing('webhook sync --replace, one webhook a destination', true, 409),
  comments,
  listen,
];

/** As many as an import stores at once, or not at all. */
const largeRows = 50_000;

function tradeLines(): string {
  const lines = Array.from({ length: largeRows }, (_, index) => {
    const time = new Date(1_760_000_000_000 + index * 1000).toISOString();
    const [trader, token] = [index % 300, index % 40].map(
      (number, at) => `0x${(number + at * 1000 + 1).toString(16).padStart(40, '0')}`,
    );
    const tx = `0x${index.toString(16).padStart(64, '0')}`;
    return `${time},${index % 3 === 2 ? 'sell' : 'buy'},base,${trader},${token},TKN,10,${100 + (index % 7)},${tx}`;
  });
  return `time,side,chain,trader,token,symbol,amount,usd,tx\n${lines.join('\n')}\n`;
}

/** Trades, whether the database is sound, and its indexes; nothing of it where it was not begun. */
function lookAt(folder: string) {
  const file = join(folder, 'state', 'sandbox.db');
  if (!existsSync(file)) return { trades: 0, sound: true, indexes: 0 };
  const db = openDb(file);
  try {
    const trades = Number(db.get('SELECT count(*) AS n FROM trade')?.['n']);
    const sound = db.get('PRAGMA integrity_check')?.['integrity_check'] === 'ok';
    const indexes = Number(db.get("SELECT count(*) AS n FROM sqlite_master WHERE type = 'index'")?.['n']);
    return { trades, sound, indexes };
  } finally {
    db.close();
  }
}

function mustBe(folder: string, ...counts: number[]): void {
  const { trades, sound, indexes } = lookAt(folder);
  must(sound, 'the database is damaged');
  must(counts.includes(trades), `${trades} trades`);
  must(trades === 0 || indexes > 10, `${indexes} indexes`);
}

/** The commands that write to the database much at once. */
export const databaseCases: readonly KillCase[] = [
  {
    name: 'sandbox import',
    sql: true,
    before: (_, folder) => writeFileSync(join(folder, 'trades.csv'), tradeLines()),
    scene: (folder) => ({
      argv: ['sandbox', 'import', join(folder, 'trades.csv'), '--json'],
      whole: () => mustBe(folder, 0, largeRows),
      complete: () => mustBe(folder, largeRows),
    }),
  },
  {
    name: 'sandbox reset',
    sql: true,
    before: (act) => act('sandbox', 'status'),
    scene: (folder) => ({
      argv: ['sandbox', 'reset', '--empty'],
      whole: () => mustBe(folder, 0, 2508),
      complete: () => mustBe(folder, 0),
    }),
  },
];
