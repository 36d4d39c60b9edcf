"""Secrets made at test time, of every kind that the scanner has to know; no value stands in this repository.

A row names a kind, a pattern of the value and a text around it. The patterns are those of the issuers' documents; in
them `{hex:32}` stands for 32 random characters of that alphabet.
"""

import base64
import random
import re
import string
from dataclasses import dataclass
from typing import Final

_ALPHABETS: Final = {
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "digit": string.digits,
    "lower": string.ascii_lowercase,
    "Upper": string.ascii_uppercase + string.digits,
    "low": string.ascii_lowercase + string.digits,
    "alnum": string.ascii_letters + string.digits,
    "letters": string.ascii_letters,
    "url": string.ascii_letters + string.digits + "-_",
    "b64": string.ascii_letters + string.digits + "+/",
    "b32": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "strong": string.ascii_letters + string.digits + "!#%^*_-+.~",
}
_FIELD: Final = re.compile(r"\{(\w+):(\d+)\}")

PREFIXED: Final[dict[str, str]] = {
    "aws-access-key-id": "AKIA{Upper:16}",
    "aws-session-key-id": "ASIA{Upper:16}",
    "aws-bedrock": "ABSK{b64:110}=",
    "gcp-api-key": "AIza{url:35}",
    "gcp-oauth-secret": "GOCSPX-{url:28}",
    "gcp-oauth-token": "ya29.{url:80}",
    "azure-ad": "{alnum:3}8Q~{alnum:34}",
    "azure-devops": "{alnum:76}AZDO{alnum:4}",
    "github-pat": "ghp_{alnum:36}",
    "github-oauth": "gho_{alnum:36}",
    "github-user": "ghu_{alnum:36}",
    "github-server": "ghs_{alnum:36}",
    "github-fine": "github_pat_{alnum:22}_{alnum:59}",
    "gitlab-pat": "glpat-{url:20}",
    "gitlab-deploy": "gldt-{url:20}",
    "gitlab-runner": "glrt-{url:20}",
    "gitlab-trigger": "glptt-{hex:40}",
    "gitlab-feed": "glft-{url:20}",
    "gitlab-old-runner": "GR1348941{url:20}",
    "bitbucket": "ATBB{alnum:32}",
    "slack-bot": "xoxb-{digit:12}-{digit:13}-{alnum:24}",
    "slack-user": "xoxp-{digit:12}-{digit:12}-{digit:12}-{hex:32}",
    "slack-app": "xapp-1-A{Upper:10}-{digit:13}-{hex:64}",
    "slack-webhook": "https://hooks.slack.com/services/T{Upper:8}/B{Upper:10}/{alnum:24}",
    "discord": "M{alnum:23}.{url:6}.{url:38}",
    "discord-webhook": "https://discord.com/api/webhooks/{digit:18}/{url:68}",
    "telegram": "{digit:10}:AA{url:33}",
    "teams": "https://acme.webhook.office.com/webhookb2/{hex:8}-{hex:4}-{hex:4}-{hex:4}-{hex:12}/IncomingWebhook/{hex:32}/x",
    "stripe-live": "sk_live_{alnum:24}",
    "stripe-restricted": "rk_live_{alnum:24}",
    "stripe-hook": "whsec_{b64:32}",
    "square": "sq0atp-{url:22}",
    "twilio": "SK{hex:32}",
    "sendgrid": "SG.{url:22}.{url:43}",
    "mailgun": "key-{hex:32}",
    "mailchimp": "{hex:32}-us12",
    "openai": "sk-{alnum:48}",
    "openai-project": "sk-proj-{url:70}",
    "anthropic": "sk-ant-api03-{url:93}AA",
    "anthropic-admin": "sk-ant-admin01-{url:93}AA",
    "hugging-face": "hf_{letters:34}",
    "perplexity": "pplx-{alnum:48}",
    "npm": "npm_{alnum:36}",
    "pypi": "pypi-AgEIcHlwaS{url:120}",
    "rubygems": "rubygems_{hex:48}",
    "nuget": "oy2{low:43}",
    "docker": "dckr_pat_{url:27}",
    "vault": "hvs.{url:95}",
    "vault-old": "s.{alnum:24}",
    "terraform": "{alnum:14}.atlasv1.{alnum:67}",
    "pulumi": "pul-{hex:40}",
    "doppler": "dp.pt.{alnum:43}",
    "1password": "ops_eyJ{b64:250}",
    "digitalocean": "dop_v1_{hex:64}",
    "heroku": "HRKU-AA{url:58}",
    "fly": "fo1_{url:43}",
    "new-relic": "NRAK-{Upper:27}",
    "grafana": "glsa_{alnum:32}_{hex:8}",
    "grafana-cloud": "glc_{b64:60}",
    "sentry": "sntrys_eyJ{b64:100}",
    "atlassian": "ATATT3{url:180}",
    "linear": "lin_api_{alnum:40}",
    "notion": "ntn_{digit:11}{alnum:35}",
    "shopify": "shpat_{hex:32}",
    "jwt": "eyJ{url:30}.eyJ{url:60}.{url:43}",
    "age": "AGE-SECRET-KEY-1{b32:58}",
    "our-project-token": "kxm_project_{hex:48}",
    "our-admin-token": "kxm_admin_{hex:48}",
}

# Values without a shape of their own, in the surroundings that tell what they are.
IN_CONTEXT: Final[dict[str, str]] = {
    "private-key-pem": "-----BEGIN RSA PRIVATE KEY-----\n{b64:64}\n{b64:64}\n-----END RSA PRIVATE KEY-----",
    "private-key-openssh": "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE{b64:50}",
    "private-key-pgp": "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{b64:64}",
    "private-key-bare": "MIIEvQIBADANBgkqhki{b64:400}",
    "pkcs12": "bundle: MIIK{b64:2}IBAzCC{b64:300}",
    "aws-secret": "aws_secret_access_key = {b64:40}",
    "aws-secret-env": "export AWS_SECRET_ACCESS_KEY={b64:40}",
    "gcp-service-account": '{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\\n{b64:64}\\n"}',
    "azure-storage": "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={b64:86}==",
    "azure-sas": "https://acme.blob.core.windows.net/c?sv=2024-01-01&sig={alnum:43}%3D",
    "twilio-auth": "TWILIO_AUTH_TOKEN={hex:32}",
    "cohere": "CO_API_KEY={alnum:40}",
    "kubernetes": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  user: YWRtaW4=\n  pass: {b64:24}\n",
    "cloudflare": 'CLOUDFLARE_API_TOKEN="{url:40}"',
    "datadog": "DD_API_KEY={hex:32}",
    "okta": "Authorization: SSWS 00{url:40}",
    "auth0": "AUTH0_CLIENT_SECRET: {url:64}",
    "asana": "asana_access_token = '1/{digit:16}:{hex:32}'",
    "bearer": "Authorization: Bearer {url:40}",
    "basic": "curl -H 'Authorization: Basic {b64:28}' https://api.acme.test",
    "curl-user": "curl -s -u deploy:{strong:14} https://ci.acme.test/build",
    "url-password": "postgres://app:{alnum:16}@db.acme.test:5432/app",
    "url-password-no-user": "redis://:{alnum:18}@cache.acme.test:6379/0",
    "amqp": "broker is amqp://svc:{alnum:12}@mq.acme.test/",
    "jdbc": "Server=db.acme.test;User Id=app;Password={alnum:14};Encrypt=true",
    "netrc": "machine api.acme.test login deploy password {strong:16}",
    "env": "DB_PASSWORD={strong:14}",
    "env-quoted": 'SECRET_KEY_BASE="{hex:64}"',
    "json": '{"user": "app", "password": "{strong:14}"}',
    "yaml": "db:\n  host: db.acme.test\n  password: {alnum:16}\n",
    "toml": 'client_secret = "{alnum:32}"',
    "python": "client = Client(api_key='{alnum:32}')",
    "js": "const apiKey = `{alnum:32}`;",
    "go": 'token := "{alnum:24}"',
    "php": "'auth_token' => '{alnum:24}',",
    "xml": "<ConnectionPassword>{strong:14}</ConnectionPassword>",
    "flag": "deploy --password {alnum:14} --host acme.test",
    "flag-equals": "deploy --api-key={alnum:32}",
    "npmrc": "//registry.acme.test/:_authToken={hex:8}-{hex:4}-{hex:4}-{hex:4}-{hex:12}",
    "header-key": "X-Api-Key: {alnum:32}",
    "prose": "the password is {strong:12}A1! for now",
}


@dataclass(frozen=True, slots=True)
class Sample:
    kind: str
    text: str


def filled(pattern: str, chance: random.Random) -> str:
    return _FIELD.sub(lambda m: "".join(chance.choices(_ALPHABETS[m[1]], k=int(m[2]))), pattern)


_AROUND: Final[tuple[str, ...]] = (
    "{}",
    "use {} for the staging run",
    "here it is:\n\n    {}\n\nplease rotate afterwards",
    '"{}"',
    "`{}`",
    "KEY={}",
    "> {}",
    "tried with ({}), got 401",
    "curl -H 'X-Key: {}' https://api.acme.test/v1",
    "- [ ] remove {}.",
)


def docker_auth(chance: random.Random) -> str:
    pair = base64.b64encode(f"deploy:{filled('{alnum:16}', chance)}".encode()).decode()
    return '{"auths": {"registry.acme.test": {"auth": "' + pair + '"}}}'


def secrets(chance: random.Random, count: int) -> list[Sample]:
    """At least `count`, every kind at least once: tokens in changing sentences, and the values with a context."""
    made = [Sample(kind, filled(pattern, chance)) for kind, pattern in IN_CONTEXT.items()]
    made.append(Sample("docker-auth", docker_auth(chance)))
    kinds = list(PREFIXED.items())
    at = 0
    while len(made) < max(count, len(IN_CONTEXT) + 1 + len(kinds)):
        kind, pattern = kinds[at % len(kinds)]
        made.append(Sample(kind, _AROUND[chance.randrange(len(_AROUND))].format(filled(pattern, chance))))
        at += 1
    return made
