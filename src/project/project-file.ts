import { dirname, resolve } from 'node:path';
import { isMap, isScalar, LineCounter, type Node, parseDocument, visit } from 'yaml';
import { z } from 'zod';
import { messageOf, SotraError } from '../errors.ts';
import { normalizeAddress } from '../model/address.ts';
import { isHttpAddress, sameDestination } from '../model/http-address.ts';
import { identifierSchema } from '../model/identifier.ts';
import { withoutPassword, written } from '../model/quoted.ts';
import { readRoute, routeForm } from '../resources/webhook/receive/route.ts';
import { readEnv } from '../settings/settings.ts';
import type { Env } from '../world.ts';

const text = z.string().min(1);
const texts = z.union([text.transform((one) => [one]), z.array(text).min(1)], 'must be a text or a list of them');

function isDestination(value: string): boolean {
  return isHttpAddress(value) && new URL(value).username === '' && new URL(value).password === '';
}

function isRoute(value: string): boolean {
  const { url } = readRoute(value) ?? {};
  return url !== undefined && isHttpAddress(url);
}

const webhookSchema = z.strictObject({
  destination: text.refine(isDestination, 'must be an http or https address without a user and password'),
  /** Files, or addresses themselves. */
  addresses: texts,
  column: text.optional(),
  secretFile: text.refine((name) => !name.startsWith('whsec_'), 'must be the name of a file, not a secret').optional(),
  routes: z.array(text.refine(isRoute, routeForm)).optional(),
});

const followSchema = z.strictObject({ follower: identifierSchema, targets: z.array(identifierSchema) });

const projectSchema = z.strictObject({
  context: text.optional(),
  webhooks: z.array(webhookSchema).superRefine(refuseSecond).default([]),
  follows: z.array(followSchema).superRefine(refuseSecondFollower).default([]),
});

/** What a `sotra.yaml` says, paths from its folder. */
export type ProjectPlan = z.output<typeof projectSchema>;
export type WantedWebhook = ProjectPlan['webhooks'][number];

function refuseSecond(webhooks: readonly { destination: string }[], problems: z.RefinementCtx): void {
  for (const [index, { destination }] of webhooks.entries())
    if (webhooks.slice(0, index).some((each) => sameDestination(each.destination, destination)))
      problems.addIssue({ code: 'custom', path: [index, 'destination'], message: 'is there twice: join their lists' });
}

function refuseSecondFollower(follows: readonly { follower: string }[], problems: z.RefinementCtx): void {
  const names = follows.map(({ follower }) => normalizeAddress(follower));
  const second = names.findIndex((name, index) => names.indexOf(name) !== index);
  if (second !== -1)
    problems.addIssue({ code: 'custom', path: [second, 'follower'], message: 'is there twice: join the targets' });
}

/** A `sotra.yaml` and the variables that it names. Errors: `config` with line, column, field, value and the fix. */
export function readProject(file: string, content: string, env: Env): { plan: ProjectPlan; variables: string[] } {
  const lines = new LineCounter();
  // Every value stays text: 0x and 40 digits would be a number.
  const document = parseDocument(content, { schema: 'failsafe', lineCounter: lines, prettyErrors: false });
  const fail = (at: number | undefined, message: string, hint?: string): never => {
    const { line, col } = lines.linePos(at ?? 0);
    throw new SotraError('config', `${file}:${line}:${col}: ${message}`, { hint });
  };
  const [error] = [...document.errors, ...document.warnings];
  if (error?.code === 'MULTIPLE_DOCS')
    fail(error.pos[0], 'a second document begins here', 'Keep one: remove this line.');
  if (error !== undefined) fail(error.pos[0], error.message);
  const variables = new Set<string>();
  visit(document, {
    Scalar: (key, node) => {
      if (key === 'key' || typeof node.value !== 'string') return;
      node.value = node.value.replaceAll(/\$\{(\w*)\}/g, (_, name: string) => {
        if (name.startsWith('SOTRA_'))
          fail(node.range?.[0], `\${${name}}: the settings of sotra are not for this file`);
        variables.add(name);
        return (
          readEnv(env, name) ?? fail(node.range?.[0], `\${${name}}: this variable is not set`, `export ${name}=...`)
        );
      });
    },
  });
  const { success, data, error: misfit } = projectSchema.safeParse(contentOf(document, fail) ?? {});
  if (success) {
    const plan = pathsFrom(dirname(file), data);
    return { plan, variables: [...variables] };
  }
  // A misspelled field is also a missing one.
  const issue = misfit.issues.find(({ code }) => code === 'unrecognized_keys') ?? misfit.issues[0];
  const path = issue?.path ?? [];
  const field = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  const node = nearestNode(document, path);
  if (issue?.code === 'unrecognized_keys') {
    const name = issue.keys[0] ?? '';
    const pair = isMap(node) ? node.items.find(({ key }) => isScalar(key) && key.value === name) : undefined;
    const hint = `There are ${fieldsAt(path)}.${/secret|key|token|password/i.test(name) ? ' A secret does not belong here: name its file.' : ''}`;
    return fail((pair?.key as Node | undefined)?.range?.[0], `${`${field}.${name}`.slice(1)}: no such field`, hint);
  }
  // What is no mapping may be a file of another kind, such as a key: its text is not told.
  const value = path.length > 0 && isScalar(node) ? ` ${written(withoutPassword(String(node.value)))}` : '';
  return fail(node?.range?.[0], `${field.slice(1) || 'the file'}${value}: ${ruleOf(issue)}`);
}

function contentOf(
  document: ReturnType<typeof parseDocument>,
  fail: (at: undefined, message: string) => never,
): unknown {
  try {
    return document.toJS();
  } catch (error) {
    return fail(undefined, messageOf(error));
  }
}

function nearestNode(document: ReturnType<typeof parseDocument>, path: readonly PropertyKey[]): Node | undefined {
  const node = (path.length === 0 ? document.contents : document.getIn(path, true)) as Node | null | undefined;
  return node ?? (path.length === 0 ? undefined : nearestNode(document, path.slice(0, -1)));
}

function fieldsAt([noun]: readonly PropertyKey[]): string {
  const schema = noun === 'webhooks' ? webhookSchema : noun === 'follows' ? followSchema : projectSchema;
  return Object.keys(schema.shape).join(', ');
}

const kinds: Record<string, string> = { array: 'a list', object: 'a mapping of names to values', string: 'a text' };

function ruleOf(issue: z.core.$ZodIssue | undefined): string {
  if (issue?.code === 'too_small') return 'must not be empty';
  if (issue?.code !== 'invalid_type') return issue?.message ?? 'does not fit';
  return issue.message.endsWith('undefined') ? 'is required' : `must be ${kinds[issue.expected] ?? issue.expected}`;
}

function pathsFrom(folder: string, plan: ProjectPlan): ProjectPlan {
  const webhooks = plan.webhooks.map((webhook) => ({
    ...webhook,
    ...(webhook.secretFile !== undefined && { secretFile: resolve(folder, webhook.secretFile) }),
  }));
  return { ...plan, webhooks };
}
