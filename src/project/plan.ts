import { join } from 'node:path';
import { allItems } from '../cli/endpoint-command.ts';
import type { Context } from '../context.ts';
import { withWorkFolder } from '../files/durable-file.ts';
import { shellWord } from '../http/preview.ts';
import { normalizeAddress } from '../model/address.ts';
import { namesOf } from '../model/identifier.ts';
import type { Profile } from '../model/profile.ts';
import { formatCount } from '../output/format.ts';
import { follows as followsOf } from '../resources/profile/endpoints.ts';
import { list as listWebhooks } from '../resources/webhook/endpoints.ts';
import { checkedList } from '../resources/webhook/secrets.ts';
import type { Project } from './open-project.ts';
import { type AddressList, type Change, readLists, type Step, webhookSteps } from './webhook-steps.ts';

export interface Differences {
  file: string;
  context: string | null;
  baseUrl: string;
  inSync: boolean;
  changes: Change[];
  /** What the service has no operation for. */
  byHand: Change[];
}

export interface Plan {
  differences: Differences;
  steps: readonly Step[];
  /** What receives the deliveries of the webhooks with routes. */
  listeners: readonly string[];
  folder: string;
}

/** What `act` gives of the differences between a project file and its service. Errors: those of the lists and of the calls. */
export async function withPlan<T>(project: Project, context: Context, act: (plan: Plan) => Promise<T>): Promise<T> {
  const parent = join(await context.dataDirectory(), 'project');
  return withWorkFolder(parent, 'plan', context, async (folder) => act(await makePlan(project, folder, context)));
}

async function makePlan(project: Project, folder: string, context: Context): Promise<Plan> {
  const lists: AddressList[] = [];
  for (const [index, wanted] of project.webhooks.entries())
    lists.push(await readLists(project.file, wanted, join(folder, `webhook-${index}`), context));
  const steps: Step[] = [];
  if (project.webhooks.length > 0) {
    const existing = checkedList((await context.call(listWebhooks, {})).data);
    for (const [index, wanted] of project.webhooks.entries())
      steps.push(...(await webhookSteps(wanted, lists[index] as AddressList, existing, context)));
  }
  for (const { follower, targets } of project.follows) steps.push(...(await followSteps(follower, targets, context)));
  const changes = steps.filter(isApplied).map(({ change }) => change);
  const byHand = steps.filter((step) => !isApplied(step)).map(({ change }) => change);
  const { context: name = null, baseUrl } = await context.service();
  const inSync = steps.length === 0;
  return {
    differences: { file: project.file, context: name, baseUrl, inSync, changes, byHand },
    steps,
    listeners: project.webhooks.flatMap(({ routes, secretFile }) =>
      routes === undefined
        ? []
        : [
            `sotra webhook listen --secret-file ${secretFile === undefined ? '<file>' : shellWord(secretFile)}${routes.map((route) => ` --route ${shellWord(route)}`).join('')}`,
          ],
    ),
    folder,
  };
}

function isApplied({ run, entry }: Step): boolean {
  return run !== undefined || entry !== undefined;
}

async function followSteps(follower: string, targets: readonly string[], context: Context): Promise<Step[]> {
  const followed: Profile[] = [];
  for await (const profiles of allItems(followsOf, { identifier: follower }, context))
    followed.push(...(profiles as Profile[]));
  const wanted = new Map(targets.map((target) => [normalizeAddress(target), target]));
  const reached = new Set(followed.flatMap(namesOf));
  const missing = [...wanted].flatMap(([name, target]) => (reached.has(name) ? [] : [target]));
  const surplus = followed.filter((profile) => !namesOf(profile).some((name) => wanted.has(name)));
  const step = (action: 'follow' | 'unfollow', names: readonly string[], shown: readonly string[]): Step[] =>
    names.length === 0
      ? []
      : [
          {
            change: { action, what: follower, count: names.length, detail: someOf(shown) },
            entry: { addressOrUid: follower, targets: names, action },
          },
        ];
  return [
    ...step('follow', missing, missing),
    ...step(
      'unfollow',
      surplus.map(({ id }) => id),
      surplus.map(({ name, id }) => name || id),
    ),
  ];
}

const maxNamed = 5;

function someOf(names: readonly string[]): string {
  const more = names.length - maxNamed;
  return [...names.slice(0, maxNamed), ...(more > 0 ? [`${formatCount(more)} more`] : [])].join(', ');
}
