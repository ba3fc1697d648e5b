// Writes how Homebrew, Scoop and Docker get a release: node scripts/packaging.mjs <SHA256SUMS of the release> <folder>
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const { version, repository } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const home = repository.url.replace(/^git\+/, '').replace(/\.git$/, '');
const [sumsFile = 'release/SHA256SUMS', folder = 'release'] = process.argv.slice(2);
const sums = new Map(
  readFileSync(sumsFile, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => [line.slice(66), line.slice(0, 64)]),
);
const description = 'Command-line tool and sandbox for the Social Trading Data Service';

/** The file of a platform: its address and its sum. */
function find(platform, kind = 'tar.xz') {
  const name = `sotra-${version}-${platform}.${kind}`;
  const sha256 = sums.get(name);
  if (!/^[0-9a-f]{64}$/.test(sha256 ?? '')) throw new Error(`no SHA-256 of ${name} in ${sumsFile}`);
  return { url: `${home}/releases/download/v${version}/${name}`, sha256 };
}

function formula() {
  const source = (platform) => {
    const { url, sha256 } = find(platform);
    return `      url "${url}"\n      sha256 "${sha256}"`;
  };
  return `class Sotra < Formula
  desc "${description}"
  homepage "${home}"
  version "${version}"
  license "MIT"

  on_macos do
    on_arm do
${source('darwin-arm64')}
    end
    on_intel do
${source('darwin-x64')}
    end
  end

  on_linux do
    on_arm do
${source('linux-arm64')}
    end
    on_intel do
${source('linux-x64')}
    end
  end

  def install
    bin.install "sotra"
    man1.install Dir["man/*"]
    bash_completion.install "completions/sotra.bash" => "sotra"
    zsh_completion.install "completions/_sotra"
    fish_completion.install "completions/sotra.fish"
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/sotra --version").strip
    assert_match "0x", shell_output("#{bin}/sotra --sandbox leaderboard list --limit 1 --columns address")
  end
end
`;
}

function scoopManifest() {
  const { url, sha256 } = find('win-x64', 'zip');
  const manifest = {
    version,
    description,
    homepage: home,
    license: 'MIT',
    architecture: { '64bit': { url, hash: sha256, extract_dir: `sotra-${version}-win-x64` } },
    bin: 'sotra.exe',
    checkver: { github: home },
    autoupdate: {
      architecture: {
        '64bit': {
          url: `${home}/releases/download/v$version/sotra-$version-win-x64.zip`,
          extract_dir: 'sotra-$version-win-x64',
        },
      },
      hash: { url: '$baseurl/SHA256SUMS' },
    },
  };
  return `${JSON.stringify(manifest, null, 4)}\n`;
}

/** A base with glibc and libstdc++, which the executable needs as it needs libatomic; roots of TLS are in it. */
function dockerfile() {
  const stage = (name, platform) => {
    const { url, sha256 } = find(platform);
    return `FROM debian:13-slim AS ${name}\nADD --checksum=sha256:${sha256} ${url} /sotra.tar.xz\n`;
  };
  return `# syntax=docker/dockerfile:1
# sotra ${version}. Written by a script and not built there: untried.
#   docker build -t sotra . && docker run --rm -it sotra --sandbox leaderboard list
${stage('amd64', 'linux-x64')}
${stage('arm64', 'linux-arm64')}
FROM \${TARGETARCH} AS unpacked
RUN apt-get update && apt-get install -y --no-install-recommends xz-utils && tar -xJf /sotra.tar.xz --strip-components=1 -C /opt

FROM debian:13-slim
RUN apt-get update && apt-get install -y --no-install-recommends libatomic1 && rm -rf /var/lib/apt/lists/* && \\
    useradd --create-home --uid 10001 sotra
COPY --from=unpacked /opt/sotra /usr/local/bin/sotra
USER 10001
WORKDIR /home/sotra
ENTRYPOINT ["sotra"]
`;
}

const files = { 'sotra.rb': formula(), 'sotra.json': scoopManifest(), Dockerfile: dockerfile() };
for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
process.stdout.write(`written: ${Object.keys(files).join(', ')}\n`);
