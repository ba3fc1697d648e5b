import type { Context } from '../context.ts';

export interface PageInput {
  open?: boolean | undefined;
  readyFile?: string | undefined;
}

/** Says on stderr where the page is, unless a ready file holds it; and starts the browser on it if asked to. */
export async function showAddress(url: string, { open, readyFile }: PageInput, { world }: Context): Promise<void> {
  if (open || readyFile === undefined) await world.io.err.write(`Page, its address works once: ${url}\n`);
  if (!open) return;
  const { default: start } = await import('open');
  const program = world.env['BROWSER'];
  await start(url, program ? { app: { name: program } } : {}).catch(() =>
    world.io.err.write('No browser can be started here: open the address above by hand.\n'),
  );
}
