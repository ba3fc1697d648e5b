import { type Endpoint, local, type Param, type Params } from '../api/endpoint.ts';
import { integer, optional } from '../api/kind.ts';
import type { Command } from './command.ts';
import { option } from './params.ts';
import type { EndpointSettings } from './run-endpoint.ts';

/**
 * Adds the subcommand of an endpoint: arguments and options from its parameters, `--all` and `--max` if it has pages, and an action that
 * calls it.
 */
export function addEndpointCommand<P extends Params, Answer, L extends Params = Record<never, Param>>(
  group: Command,
  name: string,
  endpoint: Endpoint<string, P, Answer>,
  settings: EndpointSettings<P, L, Answer>,
): Command {
  const { params, requireAnyOf = [], confirms } = settings;
  const command = describeEndpoint(group, name, endpoint, settings.description).params(
    { ...endpoint.params, ...params, ...(isWalked(endpoint) && walkParams) },
    requireAnyOf,
  );
  if (confirms !== undefined) command.confirms(confirms as (typed: unknown) => string | undefined);
  return command
    .requests()
    .prints(settings.view)
    .run(async (typed, context) =>
      (await import('./run-endpoint.ts')).runEndpoint(endpoint, settings as never, typed, context),
    );
}

/** Adds a subcommand with the help of an endpoint and without an action. */
export function describeEndpoint(
  group: Command,
  name: string,
  { id, method, path, source, summary, description, deprecated, examples }: Endpoint,
  own = description,
): Command {
  const lines = [own, deprecated && `Deprecated: ${deprecated}.`, `Sends ${method} ${path}.`];
  const command = group
    .command(name)
    .summary(deprecated === undefined ? summary : `${summary} (deprecated)`)
    .description(lines.filter((line) => line !== undefined).join('\n'));
  command.endpoint = { id, method, path, source, deprecated };
  for (const { argv, says } of examples) command.example(`--sandbox ${argv}`, says);
  return command;
}

const walkParams = {
  all: option.flag('fetch every page, printing items as they arrive'),
  max: local(optional(integer(1)), 'fetch pages until this many items'),
};

function isWalked({ paging }: Endpoint): boolean {
  return paging !== undefined && paging.kind !== 'limit';
}

export const chartParam = option.flag('draw a chart instead of the table', { conflicts: ['jq', 'columns'] });
