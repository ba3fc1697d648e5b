import { z } from 'zod';
import { type Command, defineCommand } from '../cli/command.ts';
import { serviceExitCodes } from '../cli/endpoint-command.ts';
import { splitPair } from '../cli/input.ts';
import { option } from '../cli/params.ts';
import type { Context } from '../context.ts';
import { type Endpoint, local, type OpenName, openNames, type Param, type WireNames } from '../contract/endpoint.ts';
import { readKind } from '../contract/read-kind.ts';
import { SotraError, usageError } from '../errors.ts';
import { column } from '../output/columns.ts';
import type { View } from '../output/view.ts';
import { endpoints } from '../resources/index.ts';
import { at, checks, type Plan } from './probe-checks.ts';
import {
  type Asker,
  createAsker,
  findSubjects,
  type Input,
  otherNames,
  type Pairs,
  type Subjects,
} from './probe-service.ts';

interface Report {
  baseUrl: string;
  calls: number;
  names: readonly Finding[];
  wire: WireNames;
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
    'then tries other names. Only reads. What reading cannot show is reported as cannot tell: so it is with what figures mean, such as pnl30d,\n' +
    'which counts realized PnL by the document and unrealized PnL too on some deployments.',
  params: {
    save: option.flag('write the names that differ into the context'),
    try: local(
      z.array(z.string().regex(/^\w+=[\x21-\x7e]+$/, 'must be parameter=name, such as limit=howMany')).optional(),
      'also try this name for a parameter: limit=howMany',
    ),
  },
  examples: [
    { argv: '--sandbox probe', says: 'the names of the sandbox, all as assumed' },
    { argv: '--sandbox probe --json --jq .wire', says: 'what a context would have to override' },
  ],
  uses: ['requests'],
  exitCodes: [3, ...serviceExitCodes],
  view: async () => view,
  run: async ({ save, try: typed }, context) => {
    const { context: name, baseUrl, wire: before } = await context.service();
    if (save && name === undefined)
      throw usageError('--save: no context is in use', 'Make one with sotra context set, and name it with --context.');
    const { findings, calls } = await probeNames(context, readTries(typed ?? []));
    const changed = findings.filter((one) => one.verdict === 'other name');
    const wire = { ...before, ...Object.fromEntries(changed.map((one) => [one.parameter, one.name ?? one.assumed])) };
    if (save && name !== undefined) await saveNames(name, wire, context);
    const report: Report = { baseUrl, calls, names: findings, wire };
    return { kind: 'answer', answer: report, view };
  },
});

function readTries(typed: readonly string[]): Record<string, string[]> {
  const tries: Record<string, string[]> = {};
  for (const text of typed) {
    const [key, name] = splitPair(text);
    tries[key] = [...(tries[key] ?? []), name];
  }
  return tries;
}

async function saveNames(name: string, wire: WireNames, context: Context): Promise<void> {
  const store = await context.store();
  await store.update(context.world, (settings) => ({
    ...settings,
    contexts: { ...settings.contexts, [name]: { ...settings.contexts[name], wire } },
  }));
  context.note(`Context ${name} now has ${Object.keys(wire).length} names of its own.`);
}

export const commands: readonly Command[] = [probeCommand];

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

type Outcome = Pick<Finding, 'verdict' | 'name' | 'evidence'>;

const cannotTell = (evidence: string): Outcome => ({ verdict: 'cannot tell', name: null, evidence });

interface Probe {
  asker: Asker;
  subjects: Subjects;
  tries: Readonly<Record<string, readonly string[]>>;
}

/**
 * What the service accepts, name by name, found by reading alone. Required names come first, then the page size, which the others need.
 * Errors: those of the calls; `not-found` for an empty leaderboard.
 */
async function probeNames(
  context: Context,
  tries: Readonly<Record<string, readonly string[]>>,
): Promise<{ findings: Finding[]; calls: number }> {
  const asker = createAsker(context, (await context.service()).wire);
  const subjects = await findSubjects(asker);
  if (subjects === undefined)
    throw new SotraError('not-found', 'the leaderboard is empty: there is no trader to ask about', {
      hint: 'Probe a deployment with data, or fill the sandbox first.',
    });
  const findings: Finding[] = [];
  for (const endpoint of endpoints as readonly Endpoint[])
    for (const open of inOrder(openNames(endpoint))) {
      const finding = await probeOne(endpoint, open, { asker, subjects, tries });
      if (finding.name !== null) asker.learn(finding.parameter, finding.name);
      findings.push(finding);
    }
  return { findings, calls: asker.calls() };
}

function inOrder(names: OpenName[]): OpenName[] {
  const rank = ({ key, param }: OpenName) => (!readKind(param.schema).optional ? 0 : key === 'limit' ? 1 : 2);
  return [...names].sort((a, b) => rank(a) - rank(b));
}

async function probeOne(endpoint: Endpoint, open: OpenName, probing: Probe): Promise<Finding> {
  const assumed = probing.asker.nameOf(endpoint, open.key);
  const finding = { parameter: open.id, source: open.param.source, assumed };
  return { ...finding, ...(await outcomeOf(endpoint, open, assumed, probing)) };
}

async function outcomeOf(endpoint: Endpoint, open: OpenName, assumed: string, probing: Probe): Promise<Outcome> {
  const { asker, subjects } = probing;
  const { id, key } = open;
  if (endpoint.method !== 'GET') return cannotTell('only a write would show it');
  const inputs = subjects.inputs(endpoint);
  if (typeof inputs === 'string') return cannotTell(inputs);
  if (key === 'olderThan' || key === 'newerThan') return fromLink(endpoint, key, inputs[0] ?? {}, assumed, asker);
  const check = checks[id] ?? checks[key];
  if (check === undefined) return cannotTell('no way is known to see its effect');
  const small = key === 'cursor' && asker.isKnown(`${endpoint.id}.limit`) ? { limit: 1 } : {};
  let silent = 'nothing is known to ask about';
  for (const { [key]: _, ...others } of inputs) {
    const rest: Input = { ...others, ...small };
    const unsure = unsurePairs(endpoint, key, rest, probing);
    const plan = check(await asker.ask(endpoint, rest, unsure), subjects.subject);
    if (typeof plan !== 'string') return findName(endpoint, open, { rest, unsure, plan }, assumed, probing);
    silent = plan;
  }
  return cannotTell(silent);
}

interface Setup {
  rest: Input;
  /** Required inputs whose names are not found yet, under every possible name. */
  unsure: Pairs;
  plan: Plan;
}

async function findName(
  endpoint: Endpoint,
  { key, param }: OpenName,
  setup: Setup,
  assumed: string,
  probing: Probe,
): Promise<Outcome> {
  const { plan } = setup;
  const test = (names: readonly string[]) => tryNames(endpoint, names, setup, probing.asker);
  const taken = Object.keys(endpoint.params).filter((one) => one !== key);
  const used = taken.map((one) => probing.asker.nameOf(endpoint, one));
  const names = namesFor(key, param, probing).filter((name) => name !== assumed && !used.includes(name));
  const own = await test([assumed]);
  if (own.evidence !== undefined) return { verdict: 'as assumed', name: assumed, evidence: own.evidence };
  const found = await search(names, test);
  if (found !== undefined) return { verdict: 'other name', ...found };
  if (plan.silence !== undefined) return cannotTell(plan.silence);
  const evidence = `the answer did not change as expected, with ${assumed} and ${names.length} other names`;
  return { verdict: 'not found', name: null, evidence };
}

function namesFor(key: string, param: Param, { tries }: Pick<Probe, 'tries'>): string[] {
  return [...new Set([...(tries[key] ?? []), ...(param.aliases ?? []), ...(otherNames[key]?.split(' ') ?? [])])];
}

function unsurePairs(endpoint: Endpoint, key: string, input: Input, probing: Probe): Pairs {
  const open = openNames(endpoint).filter((one) => one.key !== key && !readKind(one.param.schema).optional);
  const unknown = open.filter((one) => input[one.key] !== undefined && !probing.asker.isKnown(one.id));
  return unknown.flatMap((one) =>
    namesFor(one.key, one.param, probing)
      .filter((name) => name !== probing.asker.nameOf(endpoint, one.key))
      .map((name) => [name, String([input[one.key]].flat()[0])] as const),
  );
}

interface Trial {
  evidence: string | undefined;
  refused: boolean;
}

/** Sends several names at once: a service ignores those it does not know. */
async function tryNames(
  endpoint: Endpoint,
  names: readonly string[],
  { rest, unsure, plan }: Setup,
  asker: Asker,
): Promise<Trial> {
  const answers: unknown[] = [];
  for (const value of plan.values)
    answers.push(await asker.ask(endpoint, rest, [...unsure, ...names.map((name) => [name, value] as const)]));
  const evidence = plan.judge(answers);
  const refused = answers.includes(undefined);
  if (evidence === undefined || plan.control !== true) return { evidence, refused };
  const again = await asker.fresh(endpoint, rest, unsure);
  return { evidence: plan.judge(plan.values.map(() => again)) === undefined ? evidence : undefined, refused };
}

/** Finds the accepted name by halving; also when several together are refused. */
async function search(
  names: readonly string[],
  test: (names: readonly string[]) => Promise<Trial>,
): Promise<{ name: string; evidence: string } | undefined> {
  const [first] = names;
  if (first === undefined) return undefined;
  const { evidence, refused } = await test(names);
  if (names.length === 1) return evidence === undefined ? undefined : { name: first, evidence };
  if (evidence === undefined && !refused) return undefined;
  const half = Math.ceil(names.length / 2);
  return (await search(names.slice(0, half), test)) ?? (await search(names.slice(half), test));
}

/** The service itself writes the name of a cursor into its links. */
async function fromLink(
  endpoint: Endpoint,
  key: 'olderThan' | 'newerThan',
  input: Input,
  assumed: string,
  asker: Asker,
): Promise<Outcome> {
  const sized = asker.isKnown(`${endpoint.id}.limit`) ? { ...input, limit: 1 } : input;
  const first = await asker.ask(endpoint, sized);
  const older = at(first, 'pagination', 'olderItemsURL');
  const page = key === 'olderThan' || typeof older !== 'string' ? first : await asker.follow(older);
  const [linkKey, cursorKey] =
    key === 'olderThan' ? ['olderItemsURL', 'olderCursor'] : ['newerItemsURL', 'newerCursor'];
  const link = at(page, 'pagination', linkKey);
  const cursor = at(page, 'pagination', cursorKey);
  if (typeof link !== 'string' || typeof cursor !== 'string')
    return cannotTell('there is no further page, and so no link');
  const query = new URL(link, 'http://service').searchParams;
  const name = [...query].find(([, value]) => value === cursor)?.[0];
  if (name === undefined) return { verdict: 'not found', name: null, evidence: `${linkKey} does not carry the cursor` };
  const verdict = name === assumed ? 'as assumed' : 'other name';
  return { verdict, name, evidence: `the service's own ${linkKey} carries the cursor under it` };
}
