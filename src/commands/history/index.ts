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
    .description('Asks on a terminal; elsewhere it needs --yes.')
    .changes()
    .confirms(() => 'delete the history of calls')
    .example('history clear', 'asks first')
    .example('history clear --yes', 'in a script')
    .run(async (_, { dataDirectory, options, note }) => {
      const [{ showPlan }, { clearLog, countCalls, findLog }] = await Promise.all([
        import('../../lib/output/confirm.ts'),
        import('../../calls/store.ts'),
      ]);
      const folder = findLog(await dataDirectory());
      const count = counted(countCalls(folder), 'call');
      if (options.dryRun) return showPlan([{ action: 'delete', what: count, detail: folder }]);
      clearLog(folder);
      note(`Deleted ${count}.`);
      return { kind: 'none' };
    });
}
