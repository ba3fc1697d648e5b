import { type Command, defineCommand, option } from '../cli/command.ts';
import { serviceExitCodes } from '../cli/endpoint-command.ts';
import type { Context } from '../context.ts';
import { type Endpoint, type OpenName, openNames, type WireNames } from '../contract/endpoint.ts';
import { readKind } from '../contract/read-kind.ts';
import { SotraError, usageError } from '../errors.ts';
import { column } from '../output/columns.ts';
import { counted } from '../output/format.ts';
import type { View } from '../output/view.ts';
import { endpoints } from '../resources/index.ts';
import { checks, otherNames, readAt } from './probe-checks.ts';
import {
  type Asker,
  createAsker,
  findSubjects,
  type Pair,
  type ProbeInput,
  type ProbeSubjects,
} from './probe-service.ts';

interface Report {
  baseUrl: string;
  calls: number;
  names: readonly Finding[];
  wire: WireNames;
}

type Verdict = 'as assumed' | 'other name' | 'not found' | 'cannot tell';

interface Finding {
  parameter: string;
  source: string;
  assumed: string;
  verdict: Verdict;
  /** The name that the service accepts; `null` if none was found. */
  name: string | null;
  evidence: string;
}

const tones = { 'as assumed': 'gain', 'other name': 'strong', 'not found': 'loss', 'cannot tell': 'muted' } as const;

const view: View<Report, Finding> = {
  layout: 'table',
  rows: ({ names }) => names,
  columns: [
    column.text('parameter', 'Parameter', 'endpoint and parameter'),
    column.text('assumed', 'Tried as', 'the name tried first', { extra: true }),
    column.text('verdict', 'Found', 'as assumed, other name, not found, or cannot tell', {
      show: ({ verdict, name }) => ({
        text: verdict === 'other name' ? `other: ${name}` : verdict,
        tone: tones[verdict],
      }),
    }),
    column.text('name', 'Accepted name', 'the name that the service accepts', { drop: 1 }),
    column.text('evidence', 'Evidence', 'what showed it', { cut: 'end' }),
    column.text('source', 'From', 'public or assumed', { extra: true }),
  ],
  notes: ({ calls, wire, baseUrl }) => {
    const count = Object.keys(wire).length;
    const more = count === 0 ? '' : `; ${count} have another name: --save stores them in the context`;
    return [`${calls} requests to ${baseUrl}, all of them reads${more}.`];
  },
};

const probeCommand: Command = defineCommand({
  words: ['probe'],
  summary: 'Find out which parameter names a deployment accepts',
  description:
    'For each name that the interface document does not give: sends a request with it and checks that the answer changes as expected,\n' +
    'then tries other names, one a request. Only reads. What reading cannot show is reported as cannot tell: so it is with what figures\n' +
    'mean, such as pnl30d, which counts realized PnL by the document and unrealized PnL too on some deployments. A name of the context is\n' +
    'tried first: sotra context set <name> --wire \'{"*.limit":"howMany"}\'.',
  params: { save: option.flag('write the names that differ into the context') },
  examples: [
    { argv: '--sandbox probe', says: 'the names of the sandbox, all as assumed' },
    { argv: '--sandbox probe --json --jq .wire', says: 'what a context would have to override' },
  ],
  uses: ['requests'],
  exitCodes: [3, ...serviceExitCodes],
  view: async () => view,
  run: async ({ save }, context) => {
    const { context: name, baseUrl, wire: before } = await context.service();
    if (save && name === undefined)
      throw usageError('--save: no context is in use', 'Make one with sotra context set, and name it with --context.');
    const { findings, calls } = await probeNames(context);
    const changed = findings.filter((one) => one.verdict === 'other name');
    const wire = { ...before, ...Object.fromEntries(changed.map((one) => [one.parameter, one.name ?? one.assumed])) };
    if (save && name !== undefined) await saveNames(name, wire, context);
    const report: Report = { baseUrl, calls, names: findings, wire };
    return { kind: 'answer', answer: report, view };
  },
});

async function saveNames(name: string, wire: WireNames, context: Context): Promise<void> {
  const store = await context.store();
  await store.update(context.world, (settings) => ({
    ...settings,
    contexts: { ...settings.contexts, [name]: { ...settings.contexts[name], wire } },
  }));
  context.note(`Context ${name} now has ${counted(Object.keys(wire).length, 'name')} of its own.`);
}

export const commands: readonly Command[] = [probeCommand];

type Outcome = Pick<Finding, 'verdict' | 'name' | 'evidence'>;

const cannotTell = (evidence: string): Outcome => ({ verdict: 'cannot tell', name: null, evidence });

interface Probe {
  asker: Asker;
  subjects: ProbeSubjects;
}

/**
 * What the service accepts, name by name, found by reading alone. Required names come first, then the page size, which the others need.
 * Errors: those of the calls; `not-found` for an empty leaderboard.
 */
async function probeNames(context: Context): Promise<{ findings: Finding[]; calls: number }> {
  const asker = createAsker(context, (await context.service()).wire);
  const subjects = await findSubjects(asker);
  if (subjects === undefined)
    throw new SotraError('not-found', 'the leaderboard is empty: there is no trader to ask about', {
      hint: 'Probe a deployment with data, or fill the sandbox first.',
    });
  const findings: Finding[] = [];
  const rank = ({ key, param }: OpenName) => (isRequired(param) ? 0 : key === 'limit' ? 1 : 2);
  for (const endpoint of endpoints as readonly Endpoint[])
    for (const open of openNames(endpoint).sort((a, b) => rank(a) - rank(b))) {
      const assumed = asker.findName(endpoint, open.key);
      const outcome = await probeName(endpoint, open, assumed, { asker, subjects });
      if (outcome.name !== null) asker.learn(open.id, outcome.name);
      findings.push({ parameter: open.id, source: open.param.source, assumed, ...outcome });
    }
  return { findings, calls: asker.calls() };
}

function isRequired({ schema }: OpenName['param']): boolean {
  return !readKind(schema).optional;
}

async function probeName(endpoint: Endpoint, open: OpenName, assumed: string, probe: Probe): Promise<Outcome> {
  const { asker, subjects } = probe;
  const { id, key } = open;
  if (endpoint.method !== 'GET') return cannotTell('only a write would show it');
  const inputs = subjects.inputs(endpoint);
  if (typeof inputs === 'string') return cannotTell(inputs);
  if (key === 'olderThan' || key === 'newerThan') return readFromLink(endpoint, key, inputs[0] ?? {}, assumed, asker);
  const check = checks[id] ?? checks[key];
  if (check === undefined) return cannotTell('no way is known to see its effect');
  const small = key === 'cursor' && asker.isKnown(`${endpoint.id}.limit`) ? { limit: 1 } : {};
  for (const { [key]: _, ...others } of inputs) {
    const rest: ProbeInput = { ...others, ...small };
    const unsure = listUnsure(endpoint, key, rest, probe);
    const base = await asker.ask(endpoint, rest, unsure);
    const values = check.values(base, subjects.subject);
    if (values.length === 0) continue;
    const names = listCandidates(endpoint, open, assumed, probe);
    for (const name of [assumed, ...names])
      for (const value of values) {
        const answer = await asker.ask(endpoint, rest, [...unsure, [name, value]]);
        const evidence = check.evidence(answer, value, base, subjects.subject);
        if (evidence === undefined) continue;
        const again = check.mayBeChance && (await asker.askAgain(endpoint, rest, unsure));
        if (check.mayBeChance && check.evidence(again, value, base, subjects.subject) !== undefined) continue;
        return { verdict: name === assumed ? 'as assumed' : 'other name', name, evidence };
      }
    if (check.silence !== undefined) return cannotTell(check.silence);
    const evidence = `the answer did not change as expected, with ${assumed} and ${names.length} other names`;
    return { verdict: 'not found', name: null, evidence };
  }
  return cannotTell(check.lacks ?? 'nothing is known to ask about');
}

/** What may be the name of a parameter beside the assumed one, and is not that of another. */
function listCandidates(endpoint: Endpoint, { key, param }: OpenName, assumed: string, { asker }: Probe) {
  const names = new Set([...(param.aliases ?? []), ...(otherNames[key]?.split(' ') ?? [])]);
  const taken = Object.keys(endpoint.params).flatMap((one) => (one === key ? [] : [asker.findName(endpoint, one)]));
  return [...names].filter((name) => name !== assumed && !taken.includes(name));
}

/** Other required inputs whose names are not found yet, under each name that they may have: a service ignores those it does not know. */
function listUnsure(endpoint: Endpoint, key: string, input: ProbeInput, probe: Probe): readonly Pair[] {
  return openNames(endpoint)
    .filter((one) => one.key !== key && isRequired(one.param) && !probe.asker.isKnown(one.id))
    .flatMap((one) => {
      const value = [input[one.key]].flat()[0];
      const names = listCandidates(endpoint, one, probe.asker.findName(endpoint, one.key), probe);
      return value === undefined ? [] : names.map((name): Pair => [name, String(value)]);
    });
}

/** The service itself writes the name of a cursor into its links. */
async function readFromLink(
  endpoint: Endpoint,
  key: 'olderThan' | 'newerThan',
  input: ProbeInput,
  assumed: string,
  asker: Asker,
): Promise<Outcome> {
  const sized = asker.isKnown(`${endpoint.id}.limit`) ? { ...input, limit: 1 } : input;
  const first = await asker.ask(endpoint, sized);
  const older = readAt(first, 'pagination', 'olderItemsURL');
  const page = key === 'olderThan' || typeof older !== 'string' ? first : await asker.follow(older);
  const [linkKey, cursorKey] =
    key === 'olderThan' ? ['olderItemsURL', 'olderCursor'] : ['newerItemsURL', 'newerCursor'];
  const link = readAt(page, 'pagination', linkKey);
  const cursor = readAt(page, 'pagination', cursorKey);
  if (typeof link !== 'string' || typeof cursor !== 'string')
    return cannotTell('there is no further page, and so no link');
  const query = new URL(link, 'http://service').searchParams;
  const name = [...query].find(([, value]) => value === cursor)?.[0];
  if (name === undefined) return { verdict: 'not found', name: null, evidence: `${linkKey} does not carry the cursor` };
  const verdict = name === assumed ? 'as assumed' : 'other name';
  return { verdict, name, evidence: `the service's own ${linkKey} carries the cursor under it` };
}
