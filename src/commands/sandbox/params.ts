import { parseDuration, parseRate, parseTime } from '../../api/duration.ts';
import { type InputOf, local } from '../../api/endpoint.ts';
import { chainKind, layouts } from '../../api/formats.ts';
import { isOrigin, originForm } from '../../api/http-address.ts';
import { choice, optional, text } from '../../api/kind.ts';
import { db, option } from '../params.ts';

const newDb = option.file('database file, or :memory: (default: the one of --sandbox)');
export const empty = option.flag('no trades instead of the built-in ones');
export const asOf = option.checked(
  "stop the sandbox's clock at this time",
  (text) => (parseTime(text) ?? Number.POSITIVE_INFINITY) < Date.UTC(10_000, 0, 1),
  'must be a time such as 2026-07-03T12:00:00Z or Unix seconds',
  { valueName: 'time' },
);
export const readyFile = option.text('ready file of the sandbox');

export const startParams = {
  port: option.count(0, 65_535, 'port, 0 for a free one (default: 4010)'),
  db: newDb,
  empty,
  asOf,
  detach: option.flag('run in the background; return once it is ready'),
  ui: option.flag('also serve a page that shows its data'),
  open: option.flag('open the page in the browser (default: print its address)', { needs: 'ui' }),
  readyFile: option.text('write {url, pid, db, keys, controlToken} to this file once it is ready; with --ui also ui'),
  wire: option.text('answer as the Clicker deployment does (clicker), or rename parameters: {"*.limit":"count"}', {
    valueName: 'clicker|json',
  }),
  eligibility: local(
    optional(choice(['any', 'public'])),
    'which traders leaderboards include; public: those above the public thresholds',
  ),
  serviceName: option.text('service name in signed texts (default: Sandbox)'),
  layout: local(optional(choice(layouts)), 'layout of signed texts (default: five-line)'),
  chains: option.checkedTexts(
    'more chains to accept, such as bsc',
    (typed) => /^[a-z][a-z0-9-]{0,31}$/.test(typed),
    'must be the name of a chain, such as bsc',
  ),
  cors: option.checkedTexts(
    'allow browser requests from this origin, such as http://localhost:5173',
    isOrigin,
    originForm,
    { noCommaSplit: true, valueName: 'origin' },
  ),
  fault: option.texts(
    "inject faults, as <fault>:<when>:<METHOD path>, such as '503:every=3:PUT /v1/webhooks/**'; faults: a status, drop, " +
      'delay=2s, truncate, garbage; when: every=3, p=0.1, first=2',
  ),
};

export type StartInput = InputOf<typeof startParams>;

export const importParams = {
  file: local(text(), 'file to read, or - for stdin', { positional: true }),
  chain: local(optional(chainKind), 'chain of rows that name none'),
  preset: local(optional(choice(['hyperliquid-fills', 'pumpfun'])), 'known format, instead of --map'),
  map: option.checkedTexts(
    'which column holds a field, such as value_in_usd=usd',
    (typed) => /^[^=]+=./s.test(typed),
    'must be <column>=<field>',
    { valueName: 'column=field' },
  ),
  rejects: option.file('write rejected rows to this file, as NDJSON'),
  ownTime: option.flag("shift times so that this file's newest trade is now, regardless of earlier imports"),
  db,
};

export type ImportInput = InputOf<typeof importParams>;

export const logParams = {
  limit: option.count(1, 1000, 'how many (default: 50)'),
  readyFile,
  expect: option.texts("exit 12 unless such a request was made, or exactly n: 'POST /v1/swap-comments=1'", {
    valueName: 'request',
  }),
};

export type LogInput = InputOf<typeof logParams>;

export const simulateParams = {
  rate: option.parsed(
    'trades per second or minute, such as 20/s (default: 1/s)',
    parseRate,
    'must be a rate such as 20/s or 300/m, at most 5000/s',
  ),
  for: option.parsed(
    'duration (default: 1m)',
    (text) => parseDuration(text) || undefined,
    'must be a time such as 30s, 5m or 1h',
    { valueName: 'duration' },
  ),
  seed: option.text('seed: the same data and seed give the same trades'),
  db,
};

export type SimulateInput = InputOf<typeof simulateParams>;
