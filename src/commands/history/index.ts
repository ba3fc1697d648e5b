import { counted } from '../../lib/output/format.ts';
import type { Command } from '../command.ts';
import { addList } from './list.ts';
import { addRun } from './run.ts';
import { addShow } from './show.ts';

export function addHistory(history: Command): void {
  addList(history);
  addShow(history);
  addRun(history);

  history
    .command('clear')
    .summary('Delete the history of calls')
    .description('Also forgets the last boards (#1, #2, ...). Asks on a terminal; elsewhere it needs --yes.')
    .changes()
    .confirms(() => 'delete the history of calls')
    .example('history clear', 'asks first')
    .example('history clear --yes', 'in a script')
    .run(async (_, { io, options, note }) => {
      const [{ showPlan }, { clearHistory, findHistory }, { readCalls }] = await Promise.all([
        import('../../lib/output/confirm.ts'),
        import('../../calls/log.ts'),
        import('../../calls/read-log.ts'),
      ]);
      const folder = findHistory(io);
      const what = counted([...readCalls(folder)].length, 'call');
      if (options.dryRun) return showPlan([{ action: 'delete', what, detail: folder }]);
      clearHistory(folder);
      note(`Deleted ${what}.`);
      return { kind: 'none' };
    });
}
