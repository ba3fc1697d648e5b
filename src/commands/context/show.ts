import { local } from '../../api/endpoint.ts';
import { defined } from '../../api/json.ts';
import { optional } from '../../api/kind.ts';
import type { Context } from '../../context.ts';
import {
  chosenContext,
  presets,
  readEnv,
  resolveService,
  type StoredContext,
  type StoredSettings,
} from '../../lib/config/settings.ts';
import type { Command } from '../command.ts';
import { type ContextEntry, describeContext, nameKind, showView } from './entry.ts';

export function addShow(context: Command): void {
  context
    .command('show')
    .summary('Show a context, and where each value comes from')
    .description(
      'Options and environment variables override stored values. Of the API key, only the last four characters are shown.',
    )
    .params({ name: local(optional(nameKind), 'name of the context; default: the current one', { positional: true }) })
    .example('context show clicker', 'the public deployment')
    .example('context show sandbox --json', 'the built-in sandbox, as JSON')
    .prints(showView)
    .run(async ({ name }, given) => {
      const answer = describeInForce(name, given, (await given.config.settings()).read());
      return { kind: 'answer', answer, view: showView };
    });
}

/** The values that commands would use, and the source of each. Errors: those of `resolveService`. */
function describeInForce(typed: string | undefined, { options, io }: Context, stored: StoredSettings): ContextEntry {
  const choice = typed === undefined ? options : { ...options, sandbox: false, context: typed };
  const service = resolveService(choice, io.env, stored);
  const { context: name, kind, keySource, keySuffix, baseUrl, baseUrlSource } = service;
  const entry = describeContext(name, chosenContext(options, io.env, stored), stored);
  const storedIn = (key: keyof StoredContext) =>
    stored.contexts[name ?? '']?.[key] !== undefined ? 'context' : presets[name ?? '']?.[key] && 'preset';
  const fromEnv = readEnv(io.env, 'SOTRA_CONTEXT') === undefined ? 'current' : 'SOTRA_CONTEXT';
  const namedBy = choice.sandbox ? '--sandbox' : choice.context === undefined ? fromEnv : '--context';
  const sources = defined({
    name: name && (typed === undefined ? namedBy : 'argument'),
    baseUrl: baseUrlSource === 'context' ? storedIn('baseUrl') : baseUrlSource,
    key: keySource ?? undefined,
    serviceName: storedIn('serviceName'),
    layout: storedIn('layout') ?? 'default',
    wire: storedIn('wire'),
    inbox: storedIn('inbox'),
  });
  const key = keySource === 'SOTRA_API_KEY' && { keySuffix, store: null, keyOrigin: null };
  return { ...entry, ...(kind === 'http' && { baseUrl }), ...key, sources };
}
