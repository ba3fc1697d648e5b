import { checkWireNames, type InputOf, local } from '../../api/endpoint.ts';
import { fitting, layouts } from '../../api/formats.ts';
import { checkBaseUrl } from '../../api/http-address.ts';
import { isObject } from '../../api/json.ts';
import { choice, formatted, json, nullable, optional, text } from '../../api/kind.ts';
import { command } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import {
  presets,
  readKeyOrigin,
  readOrigin,
  type StoredContext,
  type StoredSettings,
} from '../../lib/config/settings.ts';
import { type PlannedChange, showPlan } from '../../lib/output/confirm.ts';
import { readNatsAddress } from '../../webhooks/nats/address.ts';
import type { Command } from '../command.ts';
import { describeContext, nameParam, showContext, showView } from './entry.ts';

const textOrNull = optional(nullable(text()));
const lineOrNull = optional(
  nullable(formatted(fitting((text) => /^[^\r\n]+$/.test(text), 'must be one line of text'))),
);
const wireKind = json<Readonly<Record<string, string>>>(
  { type: 'object', additionalProperties: { type: 'string' } },
  (value) =>
    isObject(value) && Object.values(value).every((each) => typeof each === 'string')
      ? undefined
      : 'must be a JSON object of names',
);

const params = {
  name: nameParam,
  // Typed as the option of the program.
  baseUrl: local(textOrNull, 'address of the service'),
  serviceName: local(lineOrNull, 'first line of the signed text of a comment'),
  layout: local(optional(nullable(choice(layouts))), 'form of the signed text'),
  preset: local(optional(choice(Object.keys(presets))), 'start from the values of this preset'),
  wire: local(optional(nullable(wireKind)), 'parameter names of this service: {"*.limit":"count"}'),
  inbox: local(textOrNull, 'where to store deliveries, such as nats://host:4222/NAME', { valueName: 'url' }),
  inboxCreds: local(textOrNull, 'file with the credentials of the inbox', { valueName: 'file' }),
};

export function addSet(context: Command): void {
  context
    .command('set')
    .summary('Create or change a context')
    .description(
      'A new context needs --base-url, the address of its service. Omitted values stay unchanged; null removes a ' +
        'value. The first context becomes the current one.\n' +
        'A stored API key is sent only to the origin that it was stored for.',
    )
    .params(params)
    .example('context set staging --base-url https://staging.example.com --service-name Example', 'a new context')
    .example('context set staging --base-url https://staging.example.com --preset clicker', 'from a preset')
    .changes()
    .prints(showView)
    .run(({ name, ...change }, given) => changeContext(name, change, given));
}

type ContextChange = Omit<InputOf<typeof params>, 'name'>;

async function changeContext(name: string, change: ContextChange, context: Context) {
  const store = await context.config.settings();
  const before = store.read();
  if (change.wire) checkWireNames(change.wire, (await import('../../api/endpoints.ts')).endpoints, '--wire');
  const stored = await store.update(context.io, (now) => setContext(name, change, now));
  const becameCurrent = before.current === undefined && stored.current === name;
  if (context.options.dryRun) return showPlan(listChanges(name, before, stored, becameCurrent));
  if (becameCurrent) context.note(`${name} is now the current context.`);
  warnOfKey(name, stored, context);
  return showContext(name, context, stored);
}

/**
 * The settings with a context created or changed; the first one becomes the current one. A stored key stays bound to its origin. Errors:
 * `usage` for a context without a base URL and for the built-in sandbox; those of `checkBaseUrl`.
 */
function setContext(name: string, change: ContextChange, stored: StoredSettings): StoredSettings {
  if (name === 'sandbox')
    throw usageError(
      'context sandbox is built in and cannot be changed',
      'For a served sandbox: sotra context set local --preset sandbox --base-url http://127.0.0.1:4010.',
    );
  if (typeof change.inbox === 'string') readNatsAddress(change.inbox);
  const { preset = '', ...values } = change;
  const after: Record<string, unknown> = { ...withKeyOrigin(stored.contexts[name] ?? {}), ...presets[preset] };
  for (const [key, value] of Object.entries(values)) {
    if (value === null) delete after[key];
    else if (value !== undefined) after[key] = key === 'baseUrl' ? checkBaseUrl(String(value)) : value;
  }
  if (after['baseUrl'] === undefined && presets[name]?.baseUrl === undefined)
    throw usageError(
      `context ${name} needs a base URL`,
      command`sotra context set ${name} --base-url https://api.example.com`,
    );
  const isFirst = stored.current === undefined && Object.keys(stored.contexts).length === 0;
  return { ...stored, ...(isFirst && { current: name }), contexts: { ...stored.contexts, [name]: after } };
}

/** A key that was written by hand belongs to the origin beside it. */
function withKeyOrigin(context: StoredContext): StoredContext {
  if (context.apiKey === undefined || context.keyOrigin !== undefined || context.baseUrl === undefined) return context;
  return { ...context, keyOrigin: new URL(checkBaseUrl(context.baseUrl)).origin };
}

const changeable = ['baseUrl', 'serviceName', 'layout', 'wire', 'inbox', 'inboxCreds'] as const;

function listChanges(
  name: string,
  before: StoredSettings,
  stored: StoredSettings,
  becameCurrent: boolean,
): PlannedChange[] {
  const [old, next] = [before, stored].map(({ contexts }) => contexts[name] ?? {}) as [StoredContext, StoredContext];
  const format = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value ?? 'none'));
  const changed = changeable.filter((key) => JSON.stringify(old[key]) !== JSON.stringify(next[key]));
  return [
    ...changed.map((key) => ({ action: 'set', what: `${key} of context ${name}`, detail: format(next[key]) })),
    ...(becameCurrent ? [{ action: 'set', what: 'current context', detail: name }] : []),
  ];
}

function warnOfKey(name: string, stored: StoredSettings, context: Context): void {
  const { baseUrl, keySuffix } = describeContext(name, undefined, stored);
  const keyOrigin = readKeyOrigin(stored.contexts[name] ?? {});
  const origin = readOrigin(baseUrl ?? '');
  if (keyOrigin === undefined || keyOrigin === origin) return;
  context.warn(
    `the stored key ...${keySuffix} was saved for ${keyOrigin} and is not sent to ${origin}; ` +
      command`store one for it with sotra auth login --context ${name}`,
  );
}
