/** Eight random hex digits, not for secrets. Without `crypto`, whose first use takes 2 ms. */
export function randomId(): string {
  return Math.floor(Math.random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0');
}
