const within = (folder, names) => names.split(' ').map((name) => `src/${folder}/${name}.ts`);
const api = (names) => within('api', names);
const comment = (names) => within('resources/comment', names);
const webhook = (names) => within('resources/webhook', names);
const tests = (names) => names.split(' ');

/** What is mutated together, and the tests in this process that are about it: those that start the built program see no mutant. */
export const areas = {
  retry: { files: api('retry'), tests: tests('retry') },
  request: {
    files: api('request wire endpoint kind kind-of body http preview'),
    tests: tests('request wire witness laws'),
  },
  client: { files: api('client failures transport'), tests: tests('http http-limits request') },
  answers: { files: api('fits item-lines paginate'), tests: tests('fits item-lines walk-ahead feed-walk paginate') },
  documents: { files: api('har openapi'), tests: tests('trace openapi') },
  signature: { files: webhook('signature verify'), tests: tests('webhook-verify') },
  positions: {
    files: within('sandbox', 'positions lots position-lines position-lists'),
    tests: tests('positions positions-hyperliquid position-lists add-trades import-late'),
  },
  signing: {
    files: comment('signing signed evm solana secp256k1 keccak verify swap-fields'),
    tests: tests('signing-text signing-vectors signing-independent comment-sandbox'),
  },
  comment: {
    files: comment('run-sign run-verify run-post read-signed read-comment send open-signer secret-arguments'),
    tests: tests('signing-text comment-post comment-copy canary'),
  },
  keys: {
    files: comment('keys/key-folder keys/key-store keys/keystore keys/open-key keys/private-key'),
    tests: tests('key-store signing-vectors comment-post'),
  },
  addresses: {
    files: webhook('addresses address-file address-set address-source first-pass'),
    tests: tests('webhook-addresses webhook-upload'),
  },
  upload: {
    files: webhook('upload register journal jobs patience run-upload secret-file show-upload'),
    tests: tests('webhook-upload'),
  },
};
