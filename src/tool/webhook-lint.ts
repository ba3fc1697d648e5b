import { type Command, defineCommand, option, type Result } from '../cli/command.ts';
import { serviceExitCodes } from '../cli/endpoint-command.ts';
import type { Context } from '../context.ts';
import type { InputOf } from '../contract/endpoint.ts';
import { orUndefined, SotraError, usageError } from '../errors.ts';
import { isEvmAddress } from '../model/address.ts';
import { dayMs } from '../model/duration.ts';
import type { Card } from '../model/position.ts';
import { quoted } from '../model/quoted.ts';
import { column } from '../output/columns.ts';
import { counted, formatCount } from '../output/format.ts';
import { showProgress } from '../output/progress.ts';
import type { View } from '../output/view.ts';
import { get as getProfile } from '../resources/profile/endpoints.ts';
import { readAddress } from '../upload/address-file.ts';
import { openAddressFile } from '../upload/read-addresses.ts';
import { expectEvents, readFeed } from './audit-events.ts';

type Chain = 'evm' | 'solana' | 'external';

/** One thing that is wrong, or odd, with a line. */
interface Finding {
  level: 'error' | 'warning';
  kind: 'wrong' | 'doubled' | 'mixed' | 'same-profile' | 'unknown' | 'silent';
  line: number;
  address: string;
  why: string;
}

interface LintResult {
  file: string;
  /** Distinct good ones. */
  addresses: number;
  chains: Record<Chain, number>;
  errors: number;
  warnings: number;
  /** Addresses that the service was asked about. */
  lookedUp: number;
  /** Events a day for those that were looked up, by their feeds of the last week. */
  eventsPerDay: number;
  /** The same for all, as if no two of them followed the same trader. */
  maxEventsPerDay: number;
  /** In the order of the file, but no more than the first thousand of a kind. */
  findings: Finding[];
}

const maxFindings = 1000;
const defaultSample = 50;
const feedDays = 7;

const view: View<LintResult, Finding> = {
  layout: 'table',
  rows: ({ findings }) => findings,
  columns: [
    column.count('line', 'Line', 'line of the file, or item of a JSON array'),
    column.text('level', 'Level', 'error: webhook sync refuses the file; warning: it is sent as it is'),
    column.text('kind', 'Kind', 'wrong, doubled, mixed, same-profile, unknown or silent'),
    column.text('address', 'Address', 'as it stands there; what may be a secret is not shown', { cut: 'middle' }),
    column.text('why', 'Why', 'what is wrong with it', { cut: 'end' }),
  ],
  empty: 'Nothing is wrong with the addresses.',
  notes: (result) => [describeResult(result)],
};

function describeResult(result: LintResult): string {
  const { addresses, chains, errors, warnings, lookedUp, eventsPerDay, maxEventsPerDay } = result;
  const kinds = Object.entries({ EVM: chains.evm, Solana: chains.solana, 'ext:': chains.external });
  const parts = kinds.flatMap(([kind, count]) => (count > 0 ? [`${formatCount(count)} ${kind}`] : []));
  const found = `${counted(errors, 'error')}, ${counted(warnings, 'warning')}`;
  const upTo = maxEventsPerDay === eventsPerDay ? '' : `, at most ${formatCount(maxEventsPerDay)} for all`;
  const events =
    lookedUp === 0
      ? ''
      : ` ${counted(eventsPerDay, 'event')} a day expected for the ${formatCount(lookedUp)} looked up${upTo}.`;
  return `${counted(addresses, 'address')} (${parts.join(', ')}): ${found}.${events}`;
}

const params = {
  file: option.text('addresses, as webhook sync reads them; - for stdin'),
  column: option.text('the column, or field of JSON, that holds the addresses'),
  sample: option.count(0, 100_000, 'addresses that the service is asked about (default 50; 0 asks nothing)'),
  all: option.flag('ask the service about every address'),
};

const lint: Command = defineCommand({
  words: ['webhook', 'lint'],
  summary: 'Check a list of addresses before it goes to a webhook, which never gives one back',
  description:
    'Errors, which webhook sync would refuse: lines that are no address, and wrong checksums. Warnings: an address that comes twice; the few\n' +
    'of one chain among many of another; and, asked of the service for a sample or with --all, several of one profile, unknown ones, and\n' +
    'silent ones, whose home feed has had nothing for a week. The same feeds say how many events a day to expect. Exit 12 where there are\n' +
    'errors, 0 for warnings alone; 2 is a mistyped command.',
  params,
  examples: [
    { argv: 'webhook lint --file users.csv', says: 'with a sample of 50 at the service' },
    { argv: 'webhook lint --file users.csv --sample 0 --json', says: 'the file alone, as JSON' },
  ],
  uses: ['requests'],
  exitCodes: [12, ...serviceExitCodes].sort((a, b) => a - b),
  view: async () => view,
  run: runLint,
});

async function runLint({ file, column, sample, all }: InputOf<typeof params>, context: Context): Promise<Result> {
  if (all && sample !== undefined) throw usageError('--all and --sample both say how many to look up', 'Omit one.');
  const found = new Map<Finding['kind'], Finding[]>();
  let [errors, warnings] = [0, 0];
  const add = (finding: Finding) => {
    const list = found.get(finding.kind) ?? [];
    if (list.length < maxFindings) found.set(finding.kind, [...list, finding]);
    if (finding.level === 'error') errors += 1;
    else warnings += 1;
  };
  if (file === undefined) throw usageError('--file is required: which addresses?', 'Give a file, or - for stdin.');
  const { lines, name } = openAddressFile(file, column, context.world);
  const addresses = await readLines(lines, add, context);
  if (addresses.size + errors === 0) throw usageError(`${name} holds no address`, 'One a line, CSV, NDJSON or JSON.');
  const chains: LintResult['chains'] = { evm: 0, solana: 0, external: 0 };
  for (const address of addresses.keys()) chains[classifyAddress(address)] += 1;
  addMixed(addresses, chains, add);
  const wanted = sample ?? (all ? addresses.size : defaultSample);
  const picked = pickEvenly([...addresses.keys()], wanted);
  const events = await lookUp(picked, addresses, add, context).catch((thrown: unknown) => {
    if (!(thrown instanceof SotraError && ['no-service', 'key-missing'].includes(thrown.code))) throw thrown;
    throw Object.assign(thrown, { hint: `--sample 0 checks the file alone, without a service. ${thrown.hint}` });
  });
  const eventsPerDay = Math.round(events / feedDays);
  const scale = picked.length === 0 ? 0 : addresses.size / picked.length;
  const result: LintResult = {
    ...{ file: name, addresses: addresses.size, chains, errors, warnings, lookedUp: picked.length, eventsPerDay },
    maxEventsPerDay: Math.round((events * scale) / feedDays),
    findings: [...found.values()].flat().sort((a, b) => a.line - b.line),
  };
  return { kind: 'answer', answer: result, view, exitCode: errors > 0 ? 12 : 0 };
}

/** The good addresses, each with its first line. Errors: `interrupted`. */
async function readLines(
  lines: ReturnType<typeof openAddressFile>['lines'],
  add: (finding: Finding) => void,
  { world }: Context,
): Promise<Map<string, number>> {
  const addresses = new Map<string, number>();
  for await (const batch of lines) {
    if (world.signal.aborted) throw new SotraError('interrupted', 'interrupted');
    for (const { line, text, problem } of batch) {
      const read = problem === undefined ? readAddress(text, { allowBadChecksum: false }) : { reason: problem };
      const address = quoted(text.trim());
      if (typeof read !== 'string') add({ level: 'error', kind: 'wrong', line, address, why: read.reason });
      else {
        const first = addresses.get(read);
        if (first === undefined) addresses.set(read, line);
        else add({ level: 'warning', kind: 'doubled', line, address: read, why: `stands in line ${first} already` });
      }
    }
  }
  return addresses;
}

function classifyAddress(address: string): Chain {
  if (address.startsWith('ext:')) return 'external';
  return isEvmAddress(address) ? 'evm' : 'solana';
}

/** Wallets of a chain that are fewer than this part of the list are likely from another one. */
const strayPart = 0.1;

function addMixed(
  addresses: ReadonlyMap<string, number>,
  { evm, solana }: LintResult['chains'],
  add: (finding: Finding) => void,
): void {
  const few = evm < solana ? 'evm' : 'solana';
  const count = Math.min(evm, solana);
  if (count === 0 || count >= (evm + solana) * strayPart) return;
  const others = few === 'evm' ? `${formatCount(solana)} are Solana` : `${formatCount(evm)} are EVM`;
  for (const [address, line] of addresses)
    if (classifyAddress(address) === few)
      add({ level: 'warning', kind: 'mixed', line, address, why: `${few === 'evm' ? 'EVM' : 'Solana'}, ${others}` });
}

function pickEvenly(addresses: readonly string[], count: number): string[] {
  if (count >= addresses.length) return [...addresses];
  return Array.from({ length: count }, (_, index) => addresses[Math.floor((index * addresses.length) / count)] ?? '');
}

/** Asks the service about addresses; gives the number of events that their feeds would have made in a week. Errors: those of the calls. */
async function lookUp(
  picked: readonly string[],
  lines: ReadonlyMap<string, number>,
  add: (finding: Finding) => void,
  context: Context,
): Promise<number> {
  const sinceMs = context.world.now() - feedDays * dayMs;
  const cards = new Map<string, Card>();
  const profiles = new Map<string, string>();
  const progress = await showProgress(context);
  try {
    for (const [index, address] of picked.entries()) {
      if (progress.live) progress.step(`looked up ${formatCount(index)} of ${counted(picked.length, 'address')}`);
      const warn = (kind: Finding['kind'], why: string) =>
        add({ level: 'warning', kind, line: lines.get(address) ?? 0, address, why });
      const found = await orUndefined(context.call(getProfile, { identifier: address }), 'not-found');
      if (found === undefined || found.data.status === 'unnamed') {
        warn('unknown', 'the service has no profile for it');
        continue;
      }
      const other = profiles.get(found.data.id);
      if (other === undefined) profiles.set(found.data.id, address);
      else
        warn('same-profile', `of one profile with ${other} in line ${lines.get(other)}: its events come once for both`);
      let isHeard = false;
      for await (const card of readFeed(address, sinceMs, context)) {
        cards.set(card.itemId, card);
        isHeard ||= (card.cardLatestTradeAt ?? 0) * 1000 >= sinceMs;
      }
      if (!isHeard) warn('silent', 'nothing in its home feed for a week');
    }
  } finally {
    progress.stop();
  }
  return expectEvents(cards.values(), sinceMs).length;
}

export const commands: readonly Command[] = [lint];
