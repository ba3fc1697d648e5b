import type { Context } from '../context.ts';
import { createPalette } from './color.ts';
import { createProgress, type Progress } from './progress.ts';
import { sinkStream } from './sink-stream.ts';

/** Progress as the options want it; `live`: a step takes the place of the one before, so that there may be many. */
export type ShownProgress = Progress & { live: boolean };

/**
 * Progress of a long command on stderr: a spinner on a terminal, lines elsewhere and with `--plain`, nothing with `--quiet`, in JSON mode,
 * for a preview and where `silent`.
 */
export async function showProgress(context: Context, { silent = false } = {}): Promise<ShownProgress> {
  const { world, options } = context;
  if (!silent) context.stopWaiting();
  const { err } = world.io;
  const { format, quiet, preview, plain, ascii, noColor } = options;
  const stream = sinkStream(err);
  const live = stream.isTTY && !plain;
  const progress = await createProgress({
    stderr: Object.assign(stream, { isTTY: live }),
    quiet: silent || quiet || preview || format === 'json' || format === 'ndjson',
    palette: createPalette(noColor ? 0 : err.colorLevel),
    unicode: !ascii,
    now: world.now,
  });
  return { ...progress, live };
}
