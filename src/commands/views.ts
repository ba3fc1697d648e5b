import type { AnyEndpoint } from '../api/endpoints.ts';
import type { AnyView } from '../lib/output/view.ts';
import type { Command } from './command.ts';

export type Views = Readonly<Record<AnyEndpoint['id'], AnyView>>;

/** The rows and columns of each endpoint's answer, as the commands of a program print them, by the ids of endpoints. */
export async function loadViews(command: Command): Promise<Views> {
  if (command.parent !== null) return loadViews(command.parent);
  await Promise.all(command.commands.map((group) => group.load()));
  const views = command.commands.flatMap((group) =>
    group.commands.flatMap(({ endpoint, view }) => (endpoint && view ? [[endpoint.id, view] as const] : [])),
  );
  return Object.fromEntries(views) as Views;
}
