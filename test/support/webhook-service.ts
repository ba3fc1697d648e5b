interface Hook {
  uid: string;
  destinationUrl: string;
  secret?: string;
}

/** What a service does with webhooks, as a function of method, path and body. */
export function keepWebhooks({ onePerUrl, toldOnce = false }: { onePerUrl?: number; toldOnce?: boolean } = {}) {
  const hooks: Hook[] = [];
  const held = new Map<string, Set<string>>();
  /** Each address that a webhook was sent, as often as it was. */
  const sent: string[] = [];
  let made = 0;
  const answer = (method: string, path: string, body: string | undefined): [status: number, body: unknown] => {
    const uid = path.split('/').at(-1) ?? '';
    const input = body ? JSON.parse(body) : {};
    const addresses: string[] = input.walletAddresses ?? [];
    switch (method) {
      case 'GET':
        return [200, hooks.map((each) => (toldOnce ? { ...each, secret: undefined } : each))];
      case 'POST': {
        const { destinationUrl } = input;
        if (onePerUrl !== undefined && hooks.some((each) => each.destinationUrl === destinationUrl))
          return [onePerUrl, { error: 'there is one' }];
        const hook = { uid: `w-${made}`, destinationUrl, secret: `whsec_${made}` };
        made += 1;
        hooks.push(hook);
        held.set(hook.uid, new Set(addresses));
        sent.push(...addresses.map((each) => `${hook.uid} ${each}`));
        return [200, hook];
      }
      case 'PUT': {
        const set = held.get(uid);
        if (set === undefined) return [404, { error: 'no such webhook' }];
        for (const each of addresses) set.add(each);
        sent.push(...addresses.map((each) => `${uid} ${each}`));
        return [200, { uid }];
      }
      default: {
        const index = hooks.findIndex((each) => each.uid === uid);
        if (index === -1) return [404, { error: 'no such webhook' }];
        hooks.splice(index, 1);
        held.delete(uid);
        return [200, {}];
      }
    }
  };
  const holds = (uid: string) => [...(held.get(uid) ?? [])].sort();
  return { answer, hooks, holds, sent };
}
