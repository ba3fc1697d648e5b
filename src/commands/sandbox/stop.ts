import { existsSync } from 'node:fs';
import type { Context } from '../../context.ts';
import { SotraError } from '../../errors.ts';
import type { Result } from '../../lib/output/result.ts';
import { askServed, findServed } from './served.ts';
import { stopView } from './view.ts';

const stopWaitMs = 30_000;

export async function stopServed({ readyFile }: { readyFile?: string | undefined }, context: Context): Promise<Result> {
  const { io, options } = context;
  const served = await findServed(context, readyFile);
  const { url, pid, db, file } = served;
  if (!options.dryRun) {
    await askServed(context, served, 'POST', 'stop');
    // Its ready file is removed last.
    for (const until = io.now() + stopWaitMs; existsSync(file) && io.system.isAlive(pid); ) {
      if (io.now() > until)
        throw new SotraError('wait-timeout', `process ${pid} did not end within ${stopWaitMs / 1000} s`, {
          hint: `kill ${pid}`,
        });
      await io.sleep(20, io.signal);
    }
  }
  return { kind: 'answer', answer: { url, pid, db, stopped: !options.dryRun }, view: stopView };
}
