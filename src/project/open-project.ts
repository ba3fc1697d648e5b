import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Context } from '../context.ts';
import { messageOf, SotraError } from '../errors.ts';
import { safeText } from '../model/safe-text.ts';
import { confirm } from '../output/confirm.ts';
import { findProjectFile, hashOf } from '../settings/project.ts';
import { type ProjectPlan, readProject } from './project-file.ts';

export interface Project extends ProjectPlan {
  file: string;
}

/**
 * The project file of this folder, or a named one, once the user trusts it as it is; its context is then in use. Errors: `config` for none
 * and a wrong one; `usage` where it is not trusted.
 */
export async function openProject(named: string | undefined, context: Context): Promise<Project> {
  const file = named === undefined ? findProjectFile() : resolve(named);
  if (file === undefined)
    throw new SotraError('config', 'there is no sotra.yaml in this folder or above it', {
      hint: 'The smallest: webhooks: [{ destination: https://example.com/hook, addresses: wallets.txt }]',
    });
  const bytes = read(file);
  const { plan, variables } = readProject(file, bytes.toString(), context.world.env);
  await trust(file, hashOf(bytes), describe(file, plan, variables), plan.context, context);
  if (plan.context !== undefined) context.preferContext(plan.context);
  return { ...plan, file };
}

function read(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new SotraError('config', `cannot read ${file}: ${messageOf(cause)}`, {
      hint: 'Name another with --file.',
      cause,
    });
  }
}

async function trust(file: string, sha256: string, shown: string, name: string | undefined, context: Context) {
  const store = await context.store();
  const known = store.read().trusted?.[file];
  if (known?.sha256 === sha256) return;
  const changed = known === undefined ? '' : ', which was changed since you trusted it';
  // What is only shown is made of this file too.
  const asking = { ...context, options: { ...context.options, preview: false } };
  await confirm(`trust ${file}${changed}`, asking, shown);
  const trusted = { sha256, ...(name !== undefined && { context: name }) };
  await store.update(context.world, (now) => ({ ...now, trusted: { ...now.trusted, [file]: trusted } }));
}

function describe(file: string, { context, webhooks, follows }: ProjectPlan, variables: readonly string[]): string {
  const lines = [
    `${file} names`,
    ...(context === undefined ? [] : [`  the context ${context}`]),
    ...webhooks.map(({ destination, addresses }) => `  a webhook to ${destination} for ${addresses.join(', ')}`),
    ...webhooks.flatMap(({ secretFile }) => (secretFile === undefined ? [] : [`  the secret file ${secretFile}`])),
    ...follows.map(({ follower, targets }) => `  the follows of ${follower}: ${targets.length}`),
    ...variables.map((name) => `  the variable ${name}`),
  ];
  return `${lines.map(safeText).join('\n')}\n`;
}
