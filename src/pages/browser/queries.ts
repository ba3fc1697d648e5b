import { QueryClient, type UseQueryResult, useQuery } from '@tanstack/preact-query';
import type { CallOutcome } from '../activity.ts';
import { getJson, type PageError } from './page-api.ts';

declare module '@tanstack/preact-query' {
  interface Register {
    defaultError: PageError;
    queryKey: readonly [route: string, query?: Readonly<Record<string, string>>];
  }
}

/** A key is a route of the page and its query. Data stays shown while it is fetched again. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      queryFn: ({ queryKey: [route, query = {}], signal }) =>
        getJson(`ui/${route}?${new URLSearchParams(query)}`, signal),
      // The server of the page is on this computer, also without a network.
      networkMode: 'always',
      refetchOnWindowFocus: false,
      // A service that is busy says when it may be asked again.
      retry: (_, { retryAtMs }) => retryAtMs !== undefined,
      retryDelay: (_, { retryAtMs = 0 }) => Math.max(0, retryAtMs - Date.now()),
    },
  },
});

/** The answer of an endpoint that reads, as the terminal shows it. */
export type CallAnswer<T> = UseQueryResult<CallOutcome<T>>;

export function useCall<T>(endpoint: string, input: Readonly<Record<string, unknown>>): CallAnswer<T> {
  return useQuery({ queryKey: ['call', { endpoint, input: JSON.stringify(input) }] });
}
