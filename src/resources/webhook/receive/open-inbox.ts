import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Result } from '../../../cli/command.ts';
import type { Context } from '../../../context.ts';
import { SotraError } from '../../../errors.ts';
import { openEmbedded } from './embedded/embedded-inbox.ts';
import type { Inbox } from './inbox.ts';

/** Which inbox a command speaks to. */
export interface InboxPlace {
  /** A store of this machine; default: `default`. */
  name?: string | undefined;
}

const defaultName = 'default';

/** Opens an inbox, made if absent; `listens`: to store what comes. Errors: `locked`, `local-file`. */
export async function openInbox(place: InboxPlace, context: Context, { listens = false } = {}): Promise<Inbox> {
  const name = place.name ?? defaultName;
  return openEmbedded({ folder: join(await storesFolder(context), name), name, listens, world: context.world });
}

/**
 * What `act` gives of an inbox that is there already; `empty` where nothing was stored under the default name. Errors: `not-found` for
 * another name; those of `openInbox`.
 */
export async function withInbox<R extends Result = Result>(
  place: InboxPlace,
  context: Context,
  empty: () => R,
  act: (inbox: Inbox) => Promise<R>,
): Promise<R> {
  const folder = await storesFolder(context);
  const holdsStore = (each: string) =>
    ['inbox.db', 'deliveries.ndjson'].some((file) => existsSync(join(folder, each, file)));
  const { name = defaultName } = place;
  if (!holdsStore(name)) {
    if (name === defaultName) return empty();
    const known = existsSync(folder) ? readdirSync(folder).filter(holdsStore) : [];
    throw new SotraError('not-found', `--name ${name}: no listener stored anything under this name`, {
      hint: known.length === 0 ? 'sotra webhook listen stores deliveries.' : `Known: ${known.join(', ')}.`,
    });
  }
  const inbox = await openInbox(place, context);
  try {
    return await act(inbox);
  } finally {
    await inbox.close();
  }
}

async function storesFolder(context: Context): Promise<string> {
  return join(await context.dataDirectory(), 'webhook', 'inbox');
}
