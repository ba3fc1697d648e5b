import { chainTitles, formatChain, leaderboardChains } from '../../api/chain.ts';
import type { Profile } from '../../api/profile-answers.ts';
import { AnswerTable } from './data-table.tsx';
import { Choice } from './form.tsx';
import { useCall } from './queries.ts';
import { type Route, setQuery } from './route.ts';
import { CopyButton } from './text.tsx';
import { TraderPanel } from './trader.tsx';

const chains = [['', 'all four'], ...leaderboardChains.map((each) => [each, chainTitles[each]] as const)] as const;
const windows = [
  ['', '30 days'],
  ['7d', '7 days'],
] as const;

/** The leaderboard. */
export function Board({ route }: { route: Route }) {
  const { chain = '', timeframe = '' } = route.query;
  const input = { limit: 250, ...(chain !== '' && { chains: [chain] }), ...(timeframe !== '' && { timeframe }) };
  const answer = useCall<{ traders: { profile: Profile }[] }>('leaderboard.list', input);
  const { data } = answer;
  const [id] = route.parts;
  return (
    <div class="inspect">
      <section class="browse" aria-label="Board">
        <search class="tools">
          <Choice label="Chain" value={chain} options={chains} onChange={(next) => setQuery(route, { chain: next })} />
          <Choice
            label="Window"
            value={timeframe}
            options={windows}
            onChange={(next) => setQuery(route, { timeframe: next })}
          />
          <CopyButton text={data?.command} caption="Copy as command" />
        </search>
        {chain !== '' && <p class="muted">PnL is of {formatChain(chain)}; ROI, wins and trades are of all chains.</p>}
        <AnswerTable
          label="Traders"
          empty="No trader matches."
          ids={data?.data.traders.map(({ profile }) => profile.id)}
          {...{ answer, route }}
        />
      </section>
      {id !== undefined && <TraderPanel key={id} id={id} route={route} />}
    </div>
  );
}
