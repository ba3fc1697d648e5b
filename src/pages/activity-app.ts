import { isObject } from '../api/json.ts';
import { usageError } from '../errors.ts';
import {
  type ActivityOptions,
  type ActivityRow,
  firstListed,
  type LoadedActivity,
  maxListed,
  maxLooked,
} from './activity.ts';
import type { WebApp } from './serve.ts';

/** The Activity page. `serviceRoutes` add a board and webhooks. */
export function createActivityApp(
  { facts, sources, live, sendTest }: ActivityOptions,
  serviceRoutes: WebApp['routes'] = {},
): WebApp {
  const find = (id: unknown) => {
    const source = sources.find(({ owns }) => owns(String(id)));
    if (source === undefined) throw usageError(`${String(id).slice(0, 80)}: there is no such row`);
    return source;
  };
  const list = async (limit: number, untilMs?: number): Promise<LoadedActivity> => {
    const lists = await Promise.all(sources.map((each) => each.list(limit, untilMs)));
    const rows = lists.flatMap((each) => each.rows).sort((a, b) => b.atMs - a.atMs);
    return {
      facts: { ...facts, canTest: sendTest !== undefined, hasService: Object.keys(serviceRoutes).length > 0 },
      rows: rows.slice(0, limit),
      hasMore: rows.length > limit || lists.some((each) => each.hasMore),
    };
  };
  const look = async (query: URLSearchParams): Promise<ActivityRow[]> => {
    const ids = query.getAll('id').slice(0, maxLooked);
    const found = sources.map(async ({ owns, look: lookAt }) => lookAt?.(ids.filter(owns)) ?? []);
    return (await Promise.all(found)).flat();
  };
  return {
    name: 'ui',
    title: `${facts.title} · sotra`,
    live,
    load: () => list(firstListed),
    routes: {
      'GET list': (query) => list(maxListed, query.has('until') ? Number(query.get('until')) : undefined),
      'GET rows': look,
      'GET show': async (query) => find(query.get('id')).show(query.get('id') ?? ''),
      'POST send': async (_, body) => {
        const { id, ...edited } = isObject(body) ? body : {};
        const source = find(id);
        if (source.send === undefined) throw usageError(`${id}: cannot be sent again`);
        return source.send(String(id), edited);
      },
      'POST test': async () => {
        if (sendTest === undefined) throw usageError('this page sends no test events');
        return sendTest();
      },
      ...serviceRoutes,
    },
  };
}
