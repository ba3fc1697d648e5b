const unitBytes: Readonly<Record<string, number>> = { '': 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 };

/** Bytes of a size such as `500KB`, `64MB` or `2048`; a kilobyte has 1,024. `undefined` where the text is not one. */
export function parseSize(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,12})\s*([KMG]B)?$/i.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits) * (unitBytes[unit.toUpperCase()] ?? Number.NaN);
}
