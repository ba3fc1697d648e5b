# PowerShell completion for sotra, written by `sotra completion powershell`.
Register-ArgumentCompleter -Native -CommandName sotra -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $children = @{
    '' = [ordered]@{ 'leaderboard' = 'list, rank, copytraded, sections'; 'profile' = 'get, positions, followers, follows, set-name, delete-name'; 'follow' = 'add, remove, bulk'; 'feed' = 'actor, home'; 'token' = 'positions, comments'; 'position' = 'find, get'; 'comment' = 'post, list, copy, sign, verify'; 'webhook' = 'register, list, add-addresses, delete, validate, sync, listen, verify, events, show, replay, forward, trigger, exam'; 'ui' = 'Look at the service on a local page'; 'alias' = 'set, list, remove'; 'auth' = 'login, logout, status'; 'context' = 'list, show, use, set, remove'; 'key' = 'generate, import, list, remove, export'; 'doctor' = 'Check everything a command needs, and say how to fix what is wrong'; 'completion' = 'Print the completion script of a shell'; 'sandbox' = 'start, log, stop, import, reset, status, advance, trade, simulate'; 'request' = 'Send any request, with the key, and print the JSON answer'; 'why' = 'Say why the last command failed, and what to type next'; 'history' = ', list, show, run, clear'; 'bundle' = 'Write one file for a support ticket: version, settings, doctor and the last failed calls'; 'mcp' = 'Offer the service to agents over the Model Context Protocol'; 'openapi' = 'Print the service''s interface as an OpenAPI 3.1 document'; 'help' = 'Explain a topic, an exit code, an error code, an HTTP status or a command' }
    'leaderboard' = [ordered]@{ 'list' = 'Traders ranked by realized PnL, best first'; 'rank' = 'The rank of one trader and the PnL behind it'; 'copytraded' = 'Traders ranked by the volume that others copied from their comments'; 'sections' = 'The old leaderboard, in sections' }
    'profile' = [ordered]@{ 'get' = 'One profile with its addresses, trading figures and follow counts'; 'positions' = 'A trader''s positions, open or closed, with their PnL'; 'followers' = 'Profiles that follow this one'; 'follows' = 'Profiles that this one follows'; 'set-name' = 'Set the name and avatar that a profile has at your partner'; 'delete-name' = 'Remove the name and avatar that a profile has at your partner' }
    'follow' = [ordered]@{ 'add' = 'Follow one or more profiles'; 'remove' = 'Stop following one or more profiles'; 'bulk' = 'Follow and unfollow for many followers at once' }
    'feed' = [ordered]@{ 'actor' = 'Trades of one trader, newest first'; 'home' = 'Trades of the traders that a user follows, newest first' }
    'token' = [ordered]@{ 'positions' = 'Positions in a token, open or closed, with their PnL'; 'comments' = 'Comments on a token, newest first' }
    'position' = [ordered]@{ 'find' = 'The position of a wallet''s trade, found by the time of the trade'; 'get' = 'One position with its trades, their comments and the replies' }
    'comment' = [ordered]@{ 'post' = 'Sign a comment on a swap and post it'; 'list' = 'The comments of one or more swaps'; 'copy' = 'Record that someone is about to copy the trade of a comment'; 'sign' = 'Build the text of a comment and sign it, without sending anything'; 'verify' = 'Check whether an address signed a comment' }
    'webhook' = [ordered]@{ 'register' = 'Register a webhook; an interrupted upload of its addresses resumes where it stopped'; 'list' = 'The webhooks of your key'; 'add-addresses' = 'Add addresses to a webhook; an interrupted upload resumes where it stopped'; 'delete' = 'Delete a webhook'; 'validate' = 'Have the service check that a destination rejects unsigned and accepts signed requests'; 'sync' = 'Make a webhook have the addresses of a file: register it, send what is missing, continue what was interrupted'; 'listen' = 'Receive deliveries: verify, store, show and forward each event'; 'verify' = 'Say whether one saved delivery is valid, or why not'; 'events' = 'Events that webhook listen stored, newest first'; 'show' = 'One stored event: its delivery with headers and body, its signature, and how it was forwarded'; 'replay' = 'Send stored deliveries once more, bytes and headers as they came'; 'forward' = 'Forward what webhook listen stores, from another process'; 'trigger' = 'Make a real, signed event out of a position of the sandbox and send it'; 'exam' = 'Check that your endpoint takes what it must take and refuses what it must refuse' }
    'alias' = [ordered]@{ 'set' = 'Save a name for an identifier'; 'list' = 'List the saved names and what they stand for'; 'remove' = 'Remove a saved name' }
    'auth' = [ordered]@{ 'login' = 'Choose the sandbox or a service, and store its API key'; 'logout' = 'Remove the stored API key of a context'; 'status' = 'Which API key is used, where it comes from and where it is kept' }
    'context' = [ordered]@{ 'list' = 'List the known services, and which one is in use'; 'show' = 'Show one context as it is in force, and where each value comes from'; 'use' = 'Use a context when a command names none'; 'set' = 'Make a context or change it'; 'remove' = 'Remove a context and its key' }
    'key' = [ordered]@{ 'generate' = 'Make a new private key and store it, sealed with a password'; 'import' = 'Store a private key, sealed with a password'; 'list' = 'List the stored keys with their addresses'; 'remove' = 'Remove a stored key for good'; 'export' = 'Export a stored key, sealed or unencrypted' }
    'sandbox' = [ordered]@{ 'start' = 'Serve the sandbox on this machine'; 'log' = 'The latest requests of a served sandbox'; 'stop' = 'Stop a served sandbox'; 'import' = 'Read trades from a CSV or NDJSON file into the sandbox'; 'reset' = 'Replace the world by a new one'; 'status' = 'What the sandbox holds: trades, traders, clock, keys'; 'advance' = 'Move the sandbox''s clock forward'; 'trade' = 'Make one trade happen now, with everything that follows: position, feed, webhooks'; 'simulate' = 'Make trades happen for a while, with their feed items and webhook events' }
    'history' = [ordered]@{ 'list' = 'The last calls to services, newest first'; 'show' = 'One call: its request and its answer, headers and bodies'; 'run' = 'Send a call again, to the same service, and say what differs in the answer'; 'clear' = 'Remove every remembered call' }
  }
  $flags = @{
    'leaderboard list' = [ordered]@{ '--chains' = 'sum PnL over these chains'; '--only-with-comments' = 'only traders with swap comments'; '--limit' = 'how many traders'; '--timeframe' = 'window of the PnL'; '--viewer-addresses' = 'show whether these wallets follow each trader'; '--chart' = 'draw a chart instead of the table' }
    'leaderboard rank' = [ordered]@{ '--chains' = 'sum PnL over these chains'; '--only-with-comments' = 'rank among traders with swap comments'; '--timeframe' = 'window of the PnL' }
    'leaderboard copytraded' = [ordered]@{ '--address' = 'also give the rank of this wallet'; '--chains' = 'count copies on these chains'; '--limit' = 'how many traders'; '--viewer-addresses' = 'show whether these wallets follow each trader' }
    'leaderboard sections' = [ordered]@{ '--limit' = 'how many traders a section'; '--sections' = 'section keys: all, chain-solana, chain-base, ...'; '--timeframe' = 'window of the PnL' }
    'profile get' = [ordered]@{ '--viewer-addresses' = 'show whether these wallets follow the profile'; '--chart' = 'draw a chart instead of the table' }
    'profile positions' = [ordered]@{ '--provided-addresses-only' = 'only this wallet, not the profile''s others'; '--sort' = 'order of the positions'; '--chains' = 'only positions on these chains, or all'; '--page' = 'page number, from 1'; '--limit' = 'positions on a page'; '--price' = 'current price of the token in USD: adds unrealized and total PnL to tables, csv and tsv'; '--prices-file' = 'JSON file of prices in USD by chain:address, address or symbol: {"base:0x4ed4...": 0.0041, "ETH": 1875}'; '--chart' = 'draw a chart instead of the table'; '--all' = 'fetch every page, printing items as they arrive'; '--max' = 'fetch pages until this many items' }
    'profile followers' = [ordered]@{ '--cursor' = 'cursor of the previous page'; '--limit' = 'profiles a page'; '--all' = 'fetch every page, printing items as they arrive'; '--max' = 'fetch pages until this many items' }
    'profile follows' = [ordered]@{ '--cursor' = 'cursor of the previous page'; '--limit' = 'profiles a page'; '--all' = 'fetch every page, printing items as they arrive'; '--max' = 'fetch pages until this many items' }
    'profile set-name' = [ordered]@{ '--name' = 'new name'; '--avatar-url' = 'address of the avatar'; '--clear' = 'remove name and avatar'; '--clear-avatar' = 'remove the avatar alone' }
    'follow bulk' = [ordered]@{ '--file' = 'JSON array or NDJSON of entries, or - for stdin'; '--from-line' = 'start at this line, or place in an array; skip those before'; '--report' = 'write what became of each entry here, one JSON object a line with its request id'; '--undo-file' = 'write the undo file here instead; must not exist' }
    'feed actor' = [ordered]@{ '--chains' = 'only trades on these chains, or all'; '--limit' = 'cards on a page'; '--include-for-you' = 'also trades that the service recommends, marked'; '--min-trade-usd' = 'only cards with a trade worth at least this much, in USD'; '--min-market-cap' = 'only tokens whose market cap is at least this, in USD'; '--max-market-cap' = 'only tokens whose market cap is below this, in USD'; '--older-than' = 'only older cards: a cursor, or a time such as 2026-07-03T12:00:00Z'; '--newer-than' = 'only newer cards: a cursor, or a time'; '--cursor' = 'the same as --older-than: continues after a page (olderCursor)'; '--watch' = 'ask this often and print new cards as they come, e.g. 5s; ends with Ctrl-C or --max'; '--all' = 'fetch every page, printing items as they arrive'; '--max' = 'fetch pages until this many items' }
    'feed home' = [ordered]@{ '--chains' = 'only trades on these chains, or all'; '--limit' = 'cards on a page'; '--only-with-comments' = 'only cards with a comment'; '--min-trade-usd' = 'only cards with a trade worth at least this much, in USD'; '--older-than' = 'only older cards: a cursor, or a time such as 2026-07-03T12:00:00Z'; '--newer-than' = 'only newer cards: a cursor, or a time'; '--cursor' = 'the same as --older-than: continues after a page (olderCursor)'; '--watch' = 'ask this often and print new cards as they come, e.g. 5s; ends with Ctrl-C or --max'; '--all' = 'fetch every page, printing items as they arrive'; '--max' = 'fetch pages until this many items' }
    'token positions' = [ordered]@{ '--sort' = 'order of the positions'; '--chains' = 'only positions on these chains, or all'; '--page' = 'page number, from 1'; '--limit' = 'positions on a page'; '--price' = 'current price of the token in USD: adds unrealized and total PnL to tables, csv and tsv'; '--prices-file' = 'JSON file of prices in USD by chain:address, address or symbol: {"base:0x4ed4...": 0.0041, "ETH": 1875}'; '--all' = 'fetch every page, printing items as they arrive'; '--max' = 'fetch pages until this many items' }
    'token comments' = [ordered]@{ '--limit' = 'how many comments' }
    'position find' = [ordered]@{ '--viewer-addresses' = 'mark what these wallets like'; '--price' = 'current price of the token in USD: adds unrealized and total PnL to tables, csv and tsv'; '--prices-file' = 'JSON file of prices in USD by chain:address, address or symbol: {"base:0x4ed4...": 0.0041, "ETH": 1875}' }
    'position get' = [ordered]@{ '--viewer-addresses' = 'mark what these wallets like'; '--price' = 'current price of the token in USD: adds unrealized and total PnL to tables, csv and tsv'; '--prices-file' = 'JSON file of prices in USD by chain:address, address or symbol: {"base:0x4ed4...": 0.0041, "ETH": 1875}' }
    'comment post' = [ordered]@{ '--chain' = 'chain of the swap'; '--tx' = 'transaction hash of the swap; on hyperliquid also an order id'; '--token' = 'token that was swapped: contract address, mint, or coin on hyperliquid'; '--text' = 'the comment'; '--text-file' = 'file with the comment, byte for byte; - is stdin'; '--last' = 'about the signer''s newest swap without a comment'; '--signature' = 'a signature made elsewhere; needs --signer'; '--signer' = 'address that signed, or must sign'; '--service-name' = 'first word of the signed text (default: context''s)'; '--layout' = 'form of the signed text (default: context''s, else five-line)'; '--key-file' = 'file with the key: hex, a Solana keypair (CLI JSON or base58), or a V3 keystore'; '--key-env' = 'environment variable with the key'; '--key-stdin' = 'read the key from stdin'; '--key' = 'name of a stored key (see sotra key list)'; '--password-file' = 'file with the password of a keystore or stored key'; '--signer-command' = 'command that signs, for --signer: see help signing'; '--browser' = 'sign with your browser wallet, on a local page'; '--open' = 'open the page; else its address is printed'; '--ready-file' = 'write {ui, pid} here; ui is the address of the page'; '--signed' = 'post what comment sign --out wrote; - is stdin'; '--file' = 'post many in order: NDJSON, signed or not, or -' }
    'comment list' = [ordered]@{ '--chain' = 'chain of the swaps'; '--viewer-addresses' = 'fills the liked column for these wallets'; '--tx' = 'the same as <hash...>, as in comment sign and comment post' }
    'comment copy' = [ordered]@{ '--token' = 'token that was swapped: contract address, mint, or coin on hyperliquid'; '--chain' = 'chain of the token'; '--actor-address' = 'wallet that may trade'; '--actor-addresses' = 'all wallets of the user'; '--track-exit-until' = 'follow exits of the position until this time, or for this long, at most 7d; hyperliquid only'; '--again' = 'send an intent again that was sent within a day; without it you are asked on a terminal, and refused elsewhere' }
    'comment sign' = [ordered]@{ '--chain' = 'chain of the swap'; '--tx' = 'transaction hash of the swap; on hyperliquid also an order id'; '--token' = 'token that was swapped: contract address, mint, or coin on hyperliquid'; '--text' = 'the comment'; '--text-file' = 'file with the comment, byte for byte; - is stdin'; '--service-name' = 'first word of the signed text (default: context''s)'; '--layout' = 'form of the signed text (default: context''s, else five-line)'; '--preview' = 'show the text with warnings about it; needs no key'; '--key-file' = 'file with the key: hex, a Solana keypair (CLI JSON or base58), or a V3 keystore'; '--key-env' = 'environment variable with the key'; '--key-stdin' = 'read the key from stdin'; '--key' = 'name of a stored key (see sotra key list)'; '--password-file' = 'file with the password of a keystore or stored key'; '--signer-command' = 'command that signs, for --signer: see help signing'; '--browser' = 'sign with your browser wallet, on a local page'; '--open' = 'open the page; else its address is printed'; '--ready-file' = 'write {ui, pid} here; ui is the address of the page'; '--signer' = 'address that must sign; another one is an error'; '--file' = 'sign many: NDJSON of chain, transactionHash, tokenAddress, commentText; - is stdin'; '--out' = 'file for the signed comment (comment post --signed)' }
    'comment verify' = [ordered]@{ '--chain' = 'chain of the swap'; '--tx' = 'transaction hash of the swap; on hyperliquid also an order id'; '--token' = 'token that was swapped: contract address, mint, or coin on hyperliquid'; '--text' = 'the comment'; '--text-file' = 'file with the comment, byte for byte; - is stdin'; '--signature' = 'the signature'; '--signer' = 'the address that should have signed'; '--service-name' = 'first word of the signed text (default: context''s)'; '--layout' = 'form of the signed text (default: context''s, else five-line)'; '--signed' = 'check what comment sign --out wrote; - is stdin' }
    'webhook register' = [ordered]@{ '--url' = 'where feed items are sent'; '--file' = 'addresses: one a line, CSV or TSV with a header, NDJSON or a JSON array, gzip too; - for stdin'; '--wallet-addresses' = 'addresses typed here instead'; '--column' = 'the column, or field of JSON, that holds the addresses'; '--allow-bad-checksum' = 'accept EVM addresses with a wrong EIP-55 checksum'; '--skip-invalid' = 'skip bad lines instead of stopping before anything is sent'; '--rejects' = 'write bad lines here, one JSON object a line'; '--secret-file' = 'write the secret here (mode 0600) before anything else is sent'; '--show-secrets' = 'print the secret too, not only the file that holds it'; '--concurrency' = 'requests at once (default 4)'; '--another' = 'register even if the destination has a webhook already' }
    'webhook list' = [ordered]@{ '--show-secrets' = 'show the secrets instead of masking them' }
    'webhook add-addresses' = [ordered]@{ '--file' = 'addresses: one a line, CSV or TSV with a header, NDJSON or a JSON array, gzip too; - for stdin'; '--wallet-addresses' = 'addresses typed here instead'; '--column' = 'the column, or field of JSON, that holds the addresses'; '--allow-bad-checksum' = 'accept EVM addresses with a wrong EIP-55 checksum'; '--skip-invalid' = 'skip bad lines instead of stopping before anything is sent'; '--rejects' = 'write bad lines here, one JSON object a line'; '--concurrency' = 'requests at once (default 4)'; '--again' = 'send the list once more although it is confirmed' }
    'webhook sync' = [ordered]@{ '--url' = 'the webhook by its destination; registered if there is none'; '--file' = 'addresses: one a line, CSV or TSV with a header, NDJSON or a JSON array, gzip too; - for stdin'; '--wallet-addresses' = 'addresses typed here instead'; '--column' = 'the column, or field of JSON, that holds the addresses'; '--allow-bad-checksum' = 'accept EVM addresses with a wrong EIP-55 checksum'; '--skip-invalid' = 'skip bad lines instead of stopping before anything is sent'; '--rejects' = 'write bad lines here, one JSON object a line'; '--secret-file' = 'write the secret here (mode 0600); other secrets in the file stay'; '--show-secrets' = 'print the secret too, not only the file that holds it'; '--concurrency' = 'requests at once (default 4)'; '--check' = 'send nothing: exit 2 for bad lines or a few of another chain, 10 if any would be sent'; '--exact' = 'with --check: exit 10 also where the webhook has addresses that are not in the file'; '--replace' = 'where addresses left the file: make a new webhook without them, then delete the old one' }
    'webhook listen' = [ordered]@{ '--port' = 'port to listen on (default 4242); 0 picks a free one'; '--host' = 'address to listen on (default 127.0.0.1: this machine only)'; '--secret-file' = 'file with the secret; several files, or several lines in one, while a secret is being changed'; '--forward-to' = 'forward every delivery to this address'; '--route' = 'forward deliveries with such events: ''comment-created=http://127.0.0.1:3000/c'' or ''* where chain=base=http://127.0.0.1:3000/b'''; '--tolerance' = 'refuse signatures older than this (default: --repeats-within)'; '--keep' = 'remove what is older, or the oldest of what takes more space, and never what waits to be forwarded (503 at twice the size); not with --inbox'; '--repeats-within' = 'an event that comes again within this time is a repeat (default 7d); an --inbox knows each for as long as it is kept'; '--name' = 'which store, where several listeners run (default: default)'; '--inbox' = 'an inbox of several machines instead: nats://host:4222,host:4222/NAME or tls://... (default: the context''s, if any)'; '--inbox-creds' = 'file with its user: and password:, its token:, or credentials of nsc (SOTRA_NATS_CREDS)'; '--replicas' = 'servers that hold each event of a new --inbox: 1, 3 or 5 (default 3)'; '--ui' = 'show on a local page what is stored, what comes, and why requests are refused'; '--open' = 'open the page in the browser; otherwise its address is printed on stderr'; '--ready-file' = 'write {url, pid} here once it listens; with --ui the address of the page as ui' }
    'webhook verify' = [ordered]@{ '--secret-file' = 'file with the secret; several files, or several lines in one, while a secret is being changed'; '--header' = 'value of the daylight-signature header (default: there was none)'; '--file' = 'read the body from this file instead of stdin'; '--tolerance' = 'refuse signatures older than this (default: any age; it is shown)'; '--explain' = 'show the signature that each secret makes of this body' }
    'webhook events' = [ordered]@{ '--type' = 'only this kind, such as new-feed-item'; '--since' = 'only events received since a time, or within 1h'; '--until' = 'only events received until a time, or before 1h ago'; '--address' = 'only events that name this wallet: its trader, an author, its audience'; '--token' = 'only events that name this token: its address, or a coin such as ETH or @107'; '--webhook' = 'only this webhook: the path that it sends to, or path#secret as webhook show prints it'; '--status' = 'only events whose forwarding is at this point'; '--limit' = 'how many (default 50)'; '--follow' = 'print new events as they come, until Ctrl-C'; '--wait' = 'wait for the first event that fits, at most this long; exit 124 if none comes'; '--name' = 'which store, where several listeners run (default: default)'; '--inbox' = 'an inbox of several machines instead: nats://host:4222,host:4222/NAME or tls://... (default: the context''s, if any)'; '--inbox-creds' = 'file with its user: and password:, its token:, or credentials of nsc (SOTRA_NATS_CREDS)' }
    'webhook show' = [ordered]@{ '--secret-file' = 'verify the signature once more, by the secrets of these files'; '--name' = 'which store, where several listeners run (default: default)'; '--inbox' = 'an inbox of several machines instead: nats://host:4222,host:4222/NAME or tls://... (default: the context''s, if any)'; '--inbox-creds' = 'file with its user: and password:, its token:, or credentials of nsc (SOTRA_NATS_CREDS)' }
    'webhook replay' = [ordered]@{ '--since' = 'every delivery received since a time, or within 1h'; '--to' = 'where to send them'; '--name' = 'which store, where several listeners run (default: default)'; '--inbox' = 'an inbox of several machines instead: nats://host:4222,host:4222/NAME or tls://... (default: the context''s, if any)'; '--inbox-creds' = 'file with its user: and password:, its token:, or credentials of nsc (SOTRA_NATS_CREDS)' }
    'webhook forward' = [ordered]@{ '--forward-to' = 'forward every delivery to this address'; '--route' = 'forward deliveries with such events: ''comment-created=http://127.0.0.1:3000/c'' or ''* where chain=base=http://127.0.0.1:3000/b'''; '--name' = 'which store, where several listeners run (default: default)'; '--inbox' = 'an inbox of several machines instead: nats://host:4222,host:4222/NAME or tls://... (default: the context''s, if any)'; '--inbox-creds' = 'file with its user: and password:, its token:, or credentials of nsc (SOTRA_NATS_CREDS)' }
    'webhook trigger' = [ordered]@{ '--to' = 'send it here'; '--secret-file' = 'sign with this secret'; '--uid' = 'send it to this webhook of the sandbox only'; '--position' = 'the position it is about (default: the newest that fits)'; '--db' = 'database file (default: that of the served sandbox at the base URL, or else the built-in one)' }
    'webhook exam' = [ordered]@{ '--secret-file' = 'file with the secret that the endpoint verifies with; of several, the first'; '--junit' = 'write the cases here as JUnit XML, for CI' }
    'ui' = [ordered]@{ '--open' = 'open the page in the browser; otherwise its address is printed on stderr'; '--ready-file' = 'write {ui, pid} here; ui is the address of the page' }
    'auth login' = [ordered]@{ '--with-key' = 'read the key from stdin: sotra auth login --with-key < key.txt'; '--offline' = 'store the key without checking it'; '--store' = 'where to keep it: the keychain of the system, or the settings file (mode 0600), unencrypted; default: where the key of this context is kept now, else asked for on a terminal, else the keychain, else the file' }
    'auth status' = [ordered]@{ '--check' = 'check that the service accepts the key' }
    'context set' = [ordered]@{ '--service-name' = 'first line of the signed text of a comment'; '--layout' = 'form of the signed text (default five-line)'; '--preset' = 'use the values of this preset; other flags override them'; '--wire' = 'names this deployment uses for parameters, in place of those stored: {"*.limit":"count"}'; '--inbox' = 'where webhook commands store deliveries: nats://host:4222/NAME (default: this machine)'; '--inbox-creds' = 'file with its user: and password:, its token:, or credentials of nsc' }
    'key generate' = [ordered]@{ '--chain' = 'chain that it signs for: solana, or any other for an EVM key (default)'; '--password-file' = 'file with the password to seal with (default: ask for it)' }
    'key import' = [ordered]@{ '--key-file' = 'file with the key: hex, a Solana keypair (CLI JSON or base58), or a V3 keystore'; '--key-env' = 'environment variable with the key'; '--key-stdin' = 'read the key from stdin'; '--password-file' = 'file with the password of a keystore or stored key'; '--new-password-file' = 'file with the password to seal with (default: that of --password-file, or ask for it)'; '--replace' = 'replace a key of this name; the old file stays beside it as a backup' }
    'key export' = [ordered]@{ '--out' = 'file to write; replacing one asks first'; '--unencrypted' = 'not sealed: hex, or a Solana CLI keypair; needs --out'; '--password-file' = 'file with the password of a keystore or stored key' }
    'sandbox start' = [ordered]@{ '--port' = 'port to listen on; 0 takes a free one (default: 4010)'; '--db' = 'database file, or :memory: (default: the one --sandbox uses)'; '--empty' = 'a world without trades (default: the built-in one)'; '--as-of' = 'stop the sandbox''s clock at this time'; '--detach' = 'run in the background; return once it is ready'; '--ui' = 'show its world on a local page'; '--open' = 'open that page in the browser; otherwise its address is printed on stderr'; '--ready-file' = 'write {url, pid, db, keys, controlToken} here once it answers; with --ui the address of the page as ui'; '--wire' = 'clicker: perps without a sign, closed ones with their last amount; or names for parameters: {"*.limit":"count"}'; '--eligibility' = 'who is on leaderboards: any trader, or by the public thresholds'; '--service-name' = 'first words of the signed text that it accepts (default: Sandbox)'; '--layout' = 'layout of the signed text that it accepts (default: five-line)'; '--chains' = 'further chains that it takes, such as bsc'; '--cors' = 'an origin whose pages may call it from a browser, such as http://localhost:5173'; '--fault' = 'make requests fail: ''<status|drop|delay=2s|truncate|garbage>:<every=3|p=0.1|first=2>:<METHOD path-glob>''' }
    'sandbox log' = [ordered]@{ '--limit' = 'how many of the latest (default: 50)'; '--ready-file' = 'ready file of the sandbox, where it was started with one'; '--expect' = 'exit 12 unless such a request is among them, or so many: ''POST /v1/swap-comments=1''' }
    'sandbox stop' = [ordered]@{ '--ready-file' = 'ready file of the sandbox, where it was started with one' }
    'sandbox import' = [ordered]@{ '--chain' = 'chain of rows that name no chain'; '--preset' = 'a known format, which needs no --map'; '--map' = 'which field a column holds: value_in_usd=usd'; '--rejects' = 'write rejected rows here, one JSON object a line'; '--own-time' = 'make this file''s newest trade now, whatever was imported before'; '--db' = 'database file (default: that of the served sandbox at the base URL, or else the built-in one)' }
    'sandbox reset' = [ordered]@{ '--empty' = 'a world without trades (default: the built-in one)'; '--as-of' = 'stop the sandbox''s clock at this time'; '--db' = 'database file (default: that of the served sandbox at the base URL, or else the built-in one)' }
    'sandbox status' = [ordered]@{ '--db' = 'database file (default: that of the served sandbox at the base URL, or else the built-in one)' }
    'sandbox advance' = [ordered]@{ '--db' = 'database file (default: that of the served sandbox at the base URL, or else the built-in one)' }
    'sandbox trade' = [ordered]@{ '--chain' = 'where'; '--trader' = 'wallet that trades'; '--token' = 'contract address or mint; on hyperliquid the symbol'; '--side' = 'buy or sell'; '--amount' = 'tokens; on hyperliquid the full size, with leverage'; '--usd' = 'value in US dollars'; '--direction' = 'hyperliquid: which position (default: long)'; '--leverage' = 'hyperliquid: size divided by margin (default: 1)'; '--tx' = 'transaction hash, or order id on hyperliquid (default: a random one)'; '--db' = 'database file (default: that of the served sandbox at the base URL, or else the built-in one)' }
    'sandbox simulate' = [ordered]@{ '--for' = 'how long (default: 1m; a replay: to its end)'; '--replay' = 'file of trades, as sandbox import takes it'; '--speed' = 'replay so many times as fast (default: 1x)'; '--chain' = 'chain of rows that name no chain'; '--preset' = 'a known format'; '--seed' = 'the same seed makes the same trades in the same world'; '--db' = 'database file (default: that of the served sandbox at the base URL, or else the built-in one)' }
    'request' = [ordered]@{ '--query' = 'a query parameter, name=value'; '--data' = 'JSON body: the text itself, @file, or - for stdin'; '--paginate' = 'request the following pages too, until the last' }
    'history' = [ordered]@{ '--failed' = 'only calls that failed'; '--limit' = 'how many (default 20)' }
    'history list' = [ordered]@{ '--failed' = 'only calls that failed'; '--limit' = 'how many (default 20)' }
    'history show' = [ordered]@{ '--har' = 'as an HTTP archive (HAR), which browsers read' }
    'bundle' = [ordered]@{ '--out' = 'file to write (mode 0600; default: sotra-bundle-<time>.json)' }
    'mcp' = [ordered]@{ '--config' = 'print the entry for the settings of Claude, Cursor and VS Code'; '--tools' = 'offer these tools only'; '--allow-writes' = 'also offer what changes follows, names, copy intents and webhooks'; '--allow-signing' = 'also offer signing and posting comments with --key'; '--key' = 'stored key that may sign (sotra key list)'; '--password-file' = 'file with the password of that key'; '--secret-file' = 'file with the secret of a webhook, for verify_webhook' }
  }
  # What may stand in a place: a command and a flag, or a command and the number of an argument. Names such as @contexts are asked for; some were given by others, and only plain ones are offered.
  $values = @{
    'leaderboard list --chains' = @('base', 'solana', 'ethereum', 'hyperliquid', '@list')
    'leaderboard list --timeframe' = @('7d', '30d')
    'leaderboard list --viewer-addresses' = @('@aliases', '@list')
    'leaderboard list --columns' = @('rank', 'name', 'pnlUsd', 'baseUsd', 'solanaUsd', 'ethereumUsd', 'hyperliquidUsd', 'roiPercent30d', 'winRate30d', 'trades30d', 'roiPercent7d', 'winRate7d', 'trades7d', 'hasComments', 'isFollowedByUser', 'address', 'addresses', 'profileId', '@list')
    'leaderboard rank --chains' = @('base', 'solana', 'ethereum', 'hyperliquid', '@list')
    'leaderboard rank --timeframe' = @('7d', '30d')
    'leaderboard rank --columns' = @('ranking', 'pnlUsd', 'baseUsd', 'solanaUsd', 'ethereumUsd', 'hyperliquidUsd', '@list')
    'leaderboard rank 1' = @('@aliases')
    'leaderboard copytraded --address' = @('@aliases')
    'leaderboard copytraded --chains' = @('base', 'solana', 'ethereum', 'hyperliquid', '@list')
    'leaderboard copytraded --viewer-addresses' = @('@aliases', '@list')
    'leaderboard copytraded --columns' = @('rank', 'name', 'copiedUsd', 'copies', 'copiers', 'pnlUsd', 'roiPercent30d', 'comments30d', 'isFollowedByUser', 'address', 'addresses', 'profileId', '@list')
    'leaderboard sections --timeframe' = @('7d', '30d')
    'leaderboard sections --columns' = @('section', 'name', 'commenter', 'value', 'pnl30dUsd', 'pnl7dUsd', 'address', '@list')
    'profile get --viewer-addresses' = @('@aliases', '@list')
    'profile get --columns' = @('name', 'id', 'status', 'handles', 'addresses', 'externalId', 'followers', 'following', 'comments', 'copiedUsd', 'holdingMinutes', 'nsfw', 'isFollowedByUser', 'pnl7dUsd', 'pnl30dUsd', '@list')
    'profile get 1' = @('@aliases')
    'profile positions --sort' = @('value', 'latest')
    'profile positions --chains' = @('ethereum', 'optimism', 'polygon', 'arbitrum', 'zora', 'base', 'zero', 'solana', 'hyperliquid', 'all', '@list')
    'profile positions --columns' = @('trader', 'token', 'chain', 'side', 'realizedUsd', 'amount', 'costUsd', 'priceUsd', 'unrealizedUsd', 'totalUsd', 'unrealizedWithReceivedUsd', 'boughtUsd', 'soldUsd', 'comments', 'lastTradeAt', 'status', 'leverage', 'amountWithLeverage', 'copies', 'likes', 'replies', 'buyers24h', 'unavailable', 'address', 'tokenAddress', 'transactionHash', 'itemId', '@list')
    'profile positions 1' = @('@aliases')
    'profile positions 2' = @('open', 'closed')
    'profile followers --columns' = @('name', 'twitter', 'pnl30dUsd', 'roiPercent30d', 'winRate30d', 'trades30d', 'comments30d', 'address', 'addresses', 'farcaster', 'externalId', 'profileId', 'pnl7dUsd', 'roiPercent7d', 'winRate7d', 'trades7d', '@list')
    'profile followers 1' = @('@aliases')
    'profile follows --columns' = @('name', 'twitter', 'pnl30dUsd', 'roiPercent30d', 'winRate30d', 'trades30d', 'comments30d', 'address', 'addresses', 'farcaster', 'externalId', 'profileId', 'pnl7dUsd', 'roiPercent7d', 'winRate7d', 'trades7d', '@list')
    'profile follows 1' = @('@aliases')
    'profile set-name --columns' = @('name', 'id', 'handles', 'addresses', 'externalId', 'nsfw', 'isFollowedByUser', 'pnl7dUsd', 'pnl30dUsd', 'avatarUrl', '@list')
    'profile set-name 1' = @('@aliases')
    'profile delete-name --columns' = @('name', 'id', 'handles', 'addresses', 'externalId', 'nsfw', 'isFollowedByUser', 'pnl7dUsd', 'pnl30dUsd', 'avatarUrl', '@list')
    'profile delete-name 1' = @('@aliases')
    'follow add --columns' = @('name', 'twitter', 'pnl30dUsd', 'roiPercent30d', 'winRate30d', 'trades30d', 'comments30d', 'address', 'addresses', 'farcaster', 'externalId', 'profileId', 'pnl7dUsd', 'roiPercent7d', 'winRate7d', 'trades7d', '@list')
    'follow add 1' = @('@aliases')
    'follow add 2+' = @('@aliases')
    'follow remove --columns' = @('name', 'twitter', 'pnl30dUsd', 'roiPercent30d', 'winRate30d', 'trades30d', 'comments30d', 'address', 'addresses', 'farcaster', 'externalId', 'profileId', 'pnl7dUsd', 'roiPercent7d', 'winRate7d', 'trades7d', '@list')
    'follow remove 1' = @('@aliases')
    'follow remove 2+' = @('@aliases')
    'follow bulk --columns' = @('entries', 'follows', 'unfollows', 'requests', 'targets', 'undoFile', '@list')
    'feed actor --chains' = @('ethereum', 'optimism', 'polygon', 'arbitrum', 'zora', 'base', 'zero', 'solana', 'hyperliquid', 'all', '@list')
    'feed actor --min-trade-usd' = @('10', '100', '500', '1000')
    'feed actor --min-market-cap' = @('100000', '1000000', '10000000')
    'feed actor --max-market-cap' = @('100000', '1000000', '10000000')
    'feed actor --columns' = @('lastTradeAt', 'trader', 'token', 'latest', 'latestUsd', 'forYou', 'chain', 'side', 'realizedUsd', 'amount', 'costUsd', 'boughtUsd', 'soldUsd', 'comments', 'status', 'leverage', 'amountWithLeverage', 'copies', 'likes', 'replies', 'buyers24h', 'unavailable', 'address', 'tokenAddress', 'transactionHash', 'itemId', '@list')
    'feed actor 1' = @('@aliases')
    'feed home --chains' = @('ethereum', 'optimism', 'polygon', 'arbitrum', 'zora', 'base', 'zero', 'solana', 'hyperliquid', 'all', '@list')
    'feed home --min-trade-usd' = @('10', '100', '500', '1000')
    'feed home --columns' = @('lastTradeAt', 'trader', 'token', 'latest', 'latestUsd', 'forYou', 'chain', 'side', 'realizedUsd', 'amount', 'costUsd', 'boughtUsd', 'soldUsd', 'comments', 'status', 'leverage', 'amountWithLeverage', 'copies', 'likes', 'replies', 'buyers24h', 'unavailable', 'address', 'tokenAddress', 'transactionHash', 'itemId', '@list')
    'feed home 1+' = @('@aliases')
    'token positions --sort' = @('value', 'latest')
    'token positions --chains' = @('ethereum', 'optimism', 'polygon', 'arbitrum', 'zora', 'base', 'zero', 'solana', 'hyperliquid', 'all', '@list')
    'token positions --columns' = @('trader', 'token', 'chain', 'side', 'realizedUsd', 'amount', 'costUsd', 'priceUsd', 'unrealizedUsd', 'totalUsd', 'unrealizedWithReceivedUsd', 'boughtUsd', 'soldUsd', 'comments', 'lastTradeAt', 'status', 'leverage', 'amountWithLeverage', 'copies', 'likes', 'replies', 'buyers24h', 'unavailable', 'address', 'tokenAddress', 'transactionHash', 'itemId', '@list')
    'token positions 1' = @('ethereum', 'optimism', 'polygon', 'arbitrum', 'zora', 'base', 'zero', 'solana', 'hyperliquid')
    'token positions 2' = @('@aliases')
    'token positions 3' = @('open', 'closed')
    'token comments --columns' = @('at', 'author', 'direction', 'usd', 'text', 'holding', 'realizedUsd', 'likes', 'copies', 'side', 'tokenCommentCount', 'address', 'transactionHash', 'uid', 'itemId', '@list')
    'token comments 1' = @('ethereum', 'optimism', 'polygon', 'arbitrum', 'zora', 'base', 'zero', 'solana', 'hyperliquid')
    'token comments 2' = @('@aliases')
    'position find --viewer-addresses' = @('@aliases', '@list')
    'position find --columns' = @('trader', 'token', 'chain', 'side', 'realizedUsd', 'amount', 'costUsd', 'priceUsd', 'unrealizedUsd', 'totalUsd', 'unrealizedWithReceivedUsd', 'boughtUsd', 'soldUsd', 'comments', 'lastTradeAt', 'status', 'leverage', 'amountWithLeverage', 'copies', 'likes', 'replies', 'buyers24h', 'unavailable', 'address', 'tokenAddress', 'transactionHash', 'itemId', '@list')
    'position find 1' = @('@aliases')
    'position find 2' = @('ethereum', 'optimism', 'polygon', 'arbitrum', 'zora', 'base', 'zero', 'solana', 'hyperliquid')
    'position find 3' = @('@aliases')
    'position get --viewer-addresses' = @('@aliases', '@list')
    'position get --columns' = @('trader', 'token', 'chain', 'side', 'realizedUsd', 'amount', 'costUsd', 'priceUsd', 'unrealizedUsd', 'totalUsd', 'unrealizedWithReceivedUsd', 'boughtUsd', 'soldUsd', 'comments', 'lastTradeAt', 'status', 'leverage', 'amountWithLeverage', 'copies', 'likes', 'replies', 'buyers24h', 'unavailable', 'address', 'tokenAddress', 'transactionHash', 'itemId', '@list')
    'comment post --chain' = @('ethereum', 'optimism', 'polygon', 'arbitrum', 'zora', 'base', 'zero', 'solana', 'hyperliquid')
    'comment post --token' = @('@aliases')
    'comment post --signer' = @('@aliases')
    'comment post --layout' = @('five-line', 'blank-line')
    'comment post --key' = @('@keys')
    'comment post --columns' = @('uid', 'time', 'signer', 'text', 'chain', 'token', 'tx', 'copies', 'copiedUsd', 'likes', 'isAppUserComment', '@list')
    'comment list --chain' = @('ethereum', 'optimism', 'polygon', 'arbitrum', 'zora', 'base', 'zero', 'solana', 'hyperliquid')
    'comment list --viewer-addresses' = @('@aliases', '@list')
    'comment list --columns' = @('time', 'signer', 'text', 'chain', 'token', 'tx', 'copies', 'copiedUsd', 'likes', 'isAppUserComment', 'uid', '@list')
    'comment copy --token' = @('@aliases')
    'comment copy --chain' = @('ethereum', 'optimism', 'polygon', 'arbitrum', 'zora', 'base', 'zero', 'solana', 'hyperliquid')
    'comment copy --actor-address' = @('@aliases')
    'comment copy --actor-addresses' = @('@aliases', '@list')
    'comment copy --columns' = @('intentId', '@list')
    'comment sign --chain' = @('ethereum', 'optimism', 'polygon', 'arbitrum', 'zora', 'base', 'zero', 'solana', 'hyperliquid')
    'comment sign --token' = @('@aliases')
    'comment sign --layout' = @('five-line', 'blank-line')
    'comment sign --key' = @('@keys')
    'comment sign --signer' = @('@aliases')
    'comment sign --columns' = @('signature', 'signerAddress', 'chain', 'tokenAddress', 'transactionHash', 'commentText', 'serviceName', 'layout', 'message', '@list')
    'comment verify --chain' = @('ethereum', 'optimism', 'polygon', 'arbitrum', 'zora', 'base', 'zero', 'solana', 'hyperliquid')
    'comment verify --token' = @('@aliases')
    'comment verify --signer' = @('@aliases')
    'comment verify --layout' = @('five-line', 'blank-line')
    'comment verify --columns' = @('valid', 'recoveredAddress', 'signerAddress', 'reason', '@list')
    'webhook register --wallet-addresses' = @('@aliases', '@list')
    'webhook register --columns' = @('uid', 'destinationUrl', 'addresses', 'chunks', 'duplicates', 'rejected', 'resentChunks', 'secretFile', '@list')
    'webhook list --columns' = @('uid', 'destinationUrl', 'secret', '@list')
    'webhook add-addresses --wallet-addresses' = @('@aliases', '@list')
    'webhook add-addresses --columns' = @('uid', 'destinationUrl', 'addresses', 'chunks', 'duplicates', 'rejected', 'resentChunks', 'secretFile', '@list')
    'webhook delete --columns' = @('uid', 'state', '@list')
    'webhook validate --columns' = @('success', 'error', '@list')
    'webhook sync --wallet-addresses' = @('@aliases', '@list')
    'webhook sync --columns' = @('uid', 'wanted', 'missing', 'sent', 'notRemovable', 'inSync', '@list')
    'webhook verify --columns' = @('valid', 'reason', 'timestamp', 'ageSec', 'eventIds', 'expected', '@list')
    'webhook events --address' = @('@aliases')
    'webhook events --token' = @('@aliases')
    'webhook events --status' = @('forwarded', 'waiting', 'refused')
    'webhook events --columns' = @('receivedAt', 'eventType', 'about', 'eventId', 'status', 'path', 'webhook', '@list')
    'webhook show --columns' = @('eventId', 'eventType', 'receivedAt', 'about', 'webhook', 'status', 'verification', '@list')
    'webhook replay --columns' = @('eventId', 'eventType', 'taken', 'status', 'error', '@list')
    'webhook trigger --columns' = @('eventId', 'destinationUrl', 'delivered', 'status', 'error', '@list')
    'webhook trigger 1' = @('new-feed-item', 'comment-created', 'copyswap')
    'webhook exam --columns' = @('case', 'sent', 'answer', 'expected', 'verdict', 'status', '@list')
    'alias set --columns' = @('alias', 'identifier', '@list')
    'alias set 2' = @('@aliases')
    'alias list --columns' = @('alias', 'identifier', '@list')
    'alias remove 1' = @('@aliases')
    'auth login --store' = @('keychain', 'file')
    'auth status --columns' = @('context', 'baseUrl', 'keySuffix', 'keySource', 'store', 'valid', '@list')
    'context list --columns' = @('name', 'current', 'baseUrl', 'key', 'serviceName', 'layout', 'inbox', 'wire', 'sources', '@list')
    'context show --columns' = @('name', 'current', 'baseUrl', 'key', 'serviceName', 'layout', 'inbox', 'wire', 'sources', '@list')
    'context show 1' = @('@contexts')
    'context use --columns' = @('name', 'current', 'baseUrl', 'key', 'serviceName', 'layout', 'inbox', 'wire', 'sources', '@list')
    'context use 1' = @('@contexts')
    'context set --layout' = @('five-line', 'blank-line')
    'context set --preset' = @('sandbox', 'clicker')
    'context set --columns' = @('name', 'current', 'baseUrl', 'key', 'serviceName', 'layout', 'inbox', 'wire', 'sources', '@list')
    'context set 1' = @('@contexts')
    'context remove 1' = @('@contexts')
    'key generate --chain' = @('ethereum', 'optimism', 'polygon', 'arbitrum', 'zora', 'base', 'zero', 'solana', 'hyperliquid')
    'key generate --columns' = @('name', 'family', 'address', 'file', 'backup', '@list')
    'key generate 1' = @('@keys')
    'key import --columns' = @('name', 'family', 'address', 'file', 'backup', '@list')
    'key import 1' = @('@keys')
    'key list --columns' = @('name', 'family', 'address', 'file', 'backup', '@list')
    'key remove --columns' = @('name', 'family', 'address', 'file', 'backup', '@list')
    'key remove 1' = @('@keys')
    'key export 1' = @('@keys')
    'doctor --columns' = @('node', 'settings', 'service', 'key', 'reach', 'tls', 'clock', 'terminal', 'sandbox', '@list')
    'completion 1' = @('bash', 'zsh', 'fish', 'powershell')
    'sandbox start --eligibility' = @('any', 'public')
    'sandbox start --layout' = @('five-line', 'blank-line')
    'sandbox log --columns' = @('time', 'method', 'path', 'status', 'ms', 'partner', 'key', 'ignored', 'error', 'fault', '@list')
    'sandbox stop --columns' = @('url', 'pid', 'db', 'stopped', '@list')
    'sandbox import --chain' = @('ethereum', 'optimism', 'polygon', 'arbitrum', 'zora', 'base', 'zero', 'solana', 'hyperliquid')
    'sandbox import --preset' = @('hyperliquid-fills', 'pumpfun', 'dune')
    'sandbox import --columns' = @('rows', 'imported', 'repeated', 'rejected', 'skipped', 'traders', 'tokens', 'oldest', 'newest', '@list')
    'sandbox reset --columns' = @('db', 'world', 'now', 'frozen', 'newestTrade', 'trades', 'traders', 'positions', 'tokens', 'comments', 'webhooks', 'waiting', 'failed', 'keys', '@list')
    'sandbox status --columns' = @('db', 'world', 'now', 'frozen', 'newestTrade', 'trades', 'traders', 'positions', 'tokens', 'comments', 'webhooks', 'waiting', 'failed', 'keys', '@list')
    'sandbox advance --columns' = @('db', 'world', 'now', 'frozen', 'newestTrade', 'trades', 'traders', 'positions', 'tokens', 'comments', 'webhooks', 'waiting', 'failed', 'keys', '@list')
    'sandbox trade --chain' = @('ethereum', 'optimism', 'polygon', 'arbitrum', 'zora', 'base', 'zero', 'solana', 'hyperliquid')
    'sandbox trade --trader' = @('@aliases')
    'sandbox trade --token' = @('@aliases')
    'sandbox trade --side' = @('buy', 'sell')
    'sandbox trade --direction' = @('long', 'short')
    'sandbox trade --columns' = @('chain', 'trader', 'token', 'side', 'amount', 'usd', 'timestamp', 'transactionHash', 'positionId', 'deliveries', 'waiting', '@list')
    'sandbox simulate --chain' = @('ethereum', 'optimism', 'polygon', 'arbitrum', 'zora', 'base', 'zero', 'solana', 'hyperliquid')
    'sandbox simulate --preset' = @('hyperliquid-fills', 'pumpfun', 'dune')
    'sandbox simulate --columns' = @('trades', 'deliveries', 'waiting', 'seconds', '@list')
    'request 1' = @('GET', 'POST', 'PUT', 'PATCH', 'DELETE')
    'history --columns' = @('n', 'id', 'at', 'status', 'command', 'method', 'path', 'error', 'ms', 'context', 'exitCode', 'errorCode', 'attempt', 'requestId', 'baseUrl', '@list')
    'history list --columns' = @('n', 'id', 'at', 'status', 'command', 'method', 'path', 'error', 'ms', 'context', 'exitCode', 'errorCode', 'attempt', 'requestId', 'baseUrl', '@list')
    'bundle --columns' = @('sotra', 'settings', 'doctor', 'failedCalls', 'last', 'bytes', 'file', '@list')
    'mcp --key' = @('@keys')
    'help 1' = @('exit-codes', 'environment', 'contexts', 'ci', 'bulk', 'formatting', 'signing', 'webhooks', 'scaling', 'agents')
    '* --context' = @('@contexts')
    '* --format' = @('table', 'json', 'ndjson', 'csv', 'tsv')
  }
  $global = [ordered]@{ '--context' = 'use this stored context (SOTRA_CONTEXT)'; '--sandbox' = 'use the built-in sandbox; its state is kept between calls'; '--base-url' = 'address of the service (SOTRA_BASE_URL)'; '--format' = 'output format: table, json, ndjson, csv, tsv'; '--json' = 'the service''s JSON, unchanged; errors as JSON on stderr'; '--no-color' = 'no colors (also NO_COLOR)'; '--verbose' = 'show requests, answers and timing on stderr'; '--quiet' = 'no progress, notes or warnings on stderr'; '--yes' = 'answer yes to questions'; '--no-input' = 'never ask; fail instead'; '--columns' = 'show these columns; with --json and ndjson, objects of these fields; the command with --help names them'; '--jq' = 'print the result of this jq filter; strings without quotes'; '--show-nsfw' = 'show names that the service flags as NSFW; tables hide them'; '--timeout' = 'give up on a call after this long, attempts and waits together (default 10m, and 30s of silence)'; '--retries' = 'retry a failed request up to n times (default 2; uploads, feed --watch and --forward-to retry for longer)'; '--rate' = 'send at most so many requests in a time, evenly: 5/s, 300/m or 1000/h'; '--dry-run' = 'show what would be sent or changed, and send and change nothing; needs no key'; '--curl' = 'print the request as a curl line instead of sending it'; '--strict' = 'an answer that does not fit the contract is an error (exit 13)'; '--help' = 'show help' }
  $valued = @('--actor-address', '--actor-addresses', '--address', '--amount', '--as-of', '--avatar-url', '--base-url', '--chain', '--chains', '--column', '--columns', '--concurrency', '--context', '--cors', '--cursor', '--data', '--db', '--direction', '--eligibility', '--expect', '--fault', '--file', '--for', '--format', '--forward-to', '--from-line', '--header', '--host', '--inbox', '--inbox-creds', '--jq', '--junit', '--keep', '--key', '--key-env', '--key-file', '--layout', '--leverage', '--limit', '--map', '--max', '--max-market-cap', '--min-market-cap', '--min-trade-usd', '--name', '--new-password-file', '--newer-than', '--older-than', '--out', '--page', '--password-file', '--port', '--position', '--preset', '--price', '--prices-file', '--query', '--rate', '--ready-file', '--rejects', '--repeats-within', '--replay', '--replicas', '--report', '--retries', '--route', '--secret-file', '--sections', '--seed', '--service-name', '--side', '--signature', '--signed', '--signer', '--signer-command', '--since', '--sort', '--speed', '--status', '--store', '--text', '--text-file', '--timeframe', '--timeout', '--to', '--token', '--tolerance', '--tools', '--track-exit-until', '--trader', '--tx', '--type', '--uid', '--undo-file', '--until', '--url', '--usd', '--viewer-addresses', '--wait', '--wallet-addresses', '--watch', '--webhook', '--wire', '-d', '-q')
  $before = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
  $program = $before[0]
  $here = ''
  $slot = 1
  $flag = ''
  foreach ($word in ($before | Select-Object -Skip 1)) {
    if ($flag) { $flag = ''; continue }
    if ($word -like '--*=*') { continue }
    if ($word -like '-*') { if ($valued -ccontains $word) { $flag = $word }; continue }
    if ($children.Contains($here) -and $children[$here].Contains($word)) { $here = "$here $word".Trim() } else { $slot++ }
  }
  $place = ''
  $lead = ''
  if ($flag) { $place = $flag }
  elseif ($wordToComplete -like '--*=*') { $place = $wordToComplete.Split('=')[0]; $lead = "$place=" }
  elseif ($wordToComplete -like '-*') {
    foreach ($set in @($flags[$here], $global)) {
      if (-not $set) { continue }
      foreach ($name in $set.Keys) {
        if ($name -like "$wordToComplete*") { [System.Management.Automation.CompletionResult]::new($name, $name, 'ParameterName', $set[$name]) }
      }
    }
    return
  }
  elseif ($children.Contains($here)) {
    foreach ($name in $children[$here].Keys) {
      if ($name -like "$wordToComplete*") { [System.Management.Automation.CompletionResult]::new($name, $name, 'Command', $children[$here][$name]) }
    }
    return
  }
  else { $place = "$slot" }
  $found = @($values["$here $place"]) + @($values["* $place"]) | Where-Object { $_ }
  if (-not $found) {
    $rest = $slot
    while ($rest -gt 1 -and -not $found) { $found = @($values["$here $rest+"]) | Where-Object { $_ }; $rest-- }
  }
  if ($found -contains '@list' -and $wordToComplete.Contains(',')) {
    $lead = $wordToComplete.Substring(0, $wordToComplete.LastIndexOf(',') + 1)
  }
  foreach ($name in $found) {
    $names = switch ($name) {
      '@contexts' { & $program context list --columns name 2>$null | Where-Object { $_ -cmatch '^[A-Za-z0-9_.:@/][A-Za-z0-9_.:@/-]*$' } }
      '@aliases' { & $program alias list --columns alias 2>$null | Where-Object { $_ -cmatch '^[A-Za-z0-9_.:@/][A-Za-z0-9_.:@/-]*$' } }
      '@keys' { & $program key list --columns name 2>$null | Where-Object { $_ -cmatch '^[A-Za-z0-9_.:@/][A-Za-z0-9_.:@/-]*$' } }
      '@list' { }
      default { $name }
    }
    foreach ($each in $names) {
      # An @ at the start of a bare word is PowerShell's own.
      if ("$lead$each" -like "$($wordToComplete.Trim("'"))*") {
        $text = if ($each -like '@*') { "'$each'" } else { "$lead$each" }
        [System.Management.Automation.CompletionResult]::new($text, $each, 'ParameterValue', $each)
      }
    }
  }
}
