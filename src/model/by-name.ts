/** An object of what names from outside stand for: `constructor` and `__proto__` are names like any other, and nothing is inherited. */
export function byName<T>(entries: Iterable<readonly [string, T]>): Record<string, T> {
  return Object.assign(Object.create(null), Object.fromEntries(entries));
}
