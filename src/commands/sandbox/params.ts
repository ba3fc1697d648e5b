import { type InputOf, local } from '../../api/endpoint.ts';
import { chainKind, fitting } from '../../api/formats.ts';
import { choice, formatted, listOf, optional, text } from '../../api/kind.ts';
import { option } from '../../cli/command.ts';
import { parseDuration, parseRate, parseTime } from '../../model/duration.ts';
import { isOrigin, originForm } from '../../model/http-address.ts';
import { latestMs, readWire, wireForm } from '../../sandbox/db/settings.ts';
import { faultForm, parseExpected, parseFault } from '../../sandbox/http/fault.ts';
import { layouts } from '../../setup/settings.ts';

const presetKind = optional(choice(['hyperliquid-fills', 'pumpfun', 'dune']));
export const db = option.text(
  'database file (default: that of the served sandbox at the base URL, or else the built-in one)',
);
const newDb = option.text('database file, or :memory: (default: the one --sandbox uses)');
export const empty = option.flag('a world without trades (default: the built-in one)');
export const asOf = option.checked(
  "stop the sandbox's clock at this time",
  (text) => Math.abs(parseTime(text) ?? latestMs + 1) <= latestMs,
  'must be a time such as 2026-07-03T12:00:00Z or Unix seconds',
);
export const readyFile = option.text('ready file of the sandbox, where it was started with one');

/** How much faster than it happened `60x` replays; `undefined` for other text. */
export function readSpeed(text: string): number | undefined {
  const factor = Number(/^(\d+(?:\.\d+)?)x?$/.exec(text)?.[1]);
  return factor > 0 ? factor : undefined;
}

export const startParams = {
  port: option.count(0, 65_535, 'port to listen on; 0 takes a free one (default: 4010)'),
  db: newDb,
  empty,
  asOf,
  detach: option.flag('run in the background; return once it is ready'),
  ui: option.flag('show its world on a local page'),
  open: option.flag('open that page in the browser; otherwise its address is printed on stderr'),
  readyFile: option.text(
    'write {url, pid, db, keys, controlToken} here once it answers; with --ui the address of the page as ui',
  ),
  wire: local(
    optional(formatted(fitting((typed) => readWire(typed) !== undefined, wireForm))),
    'clicker: perps without a sign, closed ones with their last amount; or names for parameters: {"*.limit":"count"}',
  ),
  eligibility: local(
    optional(choice(['any', 'public'])),
    'who is on leaderboards: any trader, or by the public thresholds',
  ),
  serviceName: option.text('first words of the signed text that it accepts (default: Sandbox)'),
  layout: local(optional(choice(layouts)), 'layout of the signed text that it accepts (default: five-line)'),
  chains: local(
    optional(
      listOf(
        formatted(fitting((typed) => /^[a-z][a-z0-9-]{0,31}$/.test(typed), 'must be a name of a chain, such as bsc')),
      ),
    ),
    'further chains that it takes, such as bsc',
  ),
  cors: local(
    optional(listOf(formatted(fitting(isOrigin, originForm)))),
    'an origin whose pages may call it from a browser, such as http://localhost:5173',
    { whole: true },
  ),
  fault: local(
    optional(listOf(formatted(fitting((typed) => parseFault(typed) !== undefined, faultForm)))),
    "make requests fail: '<status|drop|delay=2s|truncate|garbage>:<every=3|p=0.1|first=2>:<METHOD path-glob>'",
  ),
};

export type StartInput = InputOf<typeof startParams>;

export const importParams = {
  file: local(text(), 'file to read, or - for stdin', { positional: true }),
  chain: local(optional(chainKind), 'chain of rows that name no chain'),
  preset: local(presetKind, 'a known format, which needs no --map'),
  map: local(
    optional(listOf(formatted(fitting((typed) => /^\w+=.+$/s.test(typed), 'must be <column>=<field>')))),
    'which field a column holds: value_in_usd=usd',
  ),
  rejects: option.text('write rejected rows here, one JSON object a line'),
  ownTime: option.flag("make this file's newest trade now, whatever was imported before"),
  db,
};

export type ImportInput = InputOf<typeof importParams>;

const expectedRule = "must be such as 'POST /v1/**' or 'GET /v2/leaderboard=2'";

export const logParams = {
  limit: option.count(1, 1000, 'how many of the latest (default: 50)'),
  readyFile,
  expect: local(
    optional(listOf(formatted(fitting((typed) => parseExpected(typed) !== undefined, expectedRule)))),
    "exit 12 unless such a request is among them, or so many: 'POST /v1/swap-comments=1'",
  ),
};

export type LogInput = InputOf<typeof logParams>;

export const simulateParams = {
  rate: option.checked(
    'trades a second, such as 20/s (default: 1/s)',
    (text) => parseRate(text) !== undefined,
    'must be a rate such as 20/s or 300/m, at most 5000/s',
  ),
  for: option.checked(
    'how long (default: 1m; a replay: to its end)',
    (text) => (parseDuration(text) ?? 0) > 0,
    'must be a time such as 30s, 5m or 1h',
  ),
  replay: option.text('file of trades, as sandbox import takes it'),
  speed: option.checked(
    'replay so many times as fast (default: 1x)',
    (text) => readSpeed(text) !== undefined,
    'must be a factor such as 60x',
  ),
  chain: local(optional(chainKind), 'chain of rows that name no chain'),
  preset: local(presetKind, 'a known format'),
  seed: option.text('the same seed makes the same trades in the same world'),
  db,
};

export type SimulateInput = InputOf<typeof simulateParams>;
