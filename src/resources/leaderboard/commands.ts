import { endpointCommand } from '../../cli/endpoint-command.ts';
import { leaderboardChains } from '../../model/chain.ts';
import { sections as sectionsEndpoint } from './endpoints.ts';

/** `leaderboard sections`: says which V2 commands give the same, for what was typed. */
export const sections = endpointCommand(sectionsEndpoint, async () => (await import('./view.ts')).sections, {
  prepare: (typed, context) => {
    for (const line of equivalents(typed)) context.note(line);
    return typed;
  },
});

interface Asked {
  sections?: readonly string[] | undefined;
  limit?: number | undefined;
  timeframe?: string | undefined;
}

/** The V2 commands that give the same traders, a sentence a section. Source: section "GET /v2/leaderboard", equivalents. */
function equivalents({ sections, limit, timeframe }: Asked): string[] {
  const rest = [
    limit === undefined ? '' : ` --limit ${limit}`,
    timeframe === undefined ? '' : ` --timeframe ${timeframe}`,
  ].join('');
  const command = 'sotra leaderboard list';
  if (sections === undefined)
    return [
      `Section all is now: ${command}${rest}`,
      `The sections of one chain are now: ${command} --chains <chain>${rest} (${leaderboardChains.join(', ')})`,
    ];
  return [...new Set(sections)].map((key) => {
    const chain = leaderboardChains.find((name) => key === `chain-${name}`);
    if (chain === undefined && key !== 'all') return `Section ${key} has no equivalent in V2.`;
    return `Section ${key} is now: ${command}${chain === undefined ? '' : ` --chains ${chain}`}${rest}`;
  });
}
