"""Tokens known by their own shape, wherever they stand: written from the formats that their issuers publish.

One row a format: the rule's name, how such a token starts (one of these words), and what follows. An upper bound of a
length is left out where the lower one already tells a token.
"""

from typing import Final

from peerline.network.scanner.rule import Rule, Shape
from peerline.network.scanner.values import blank_token, placeholder, random_looking


def _filled(value: str) -> bool:
    return not blank_token(value)


def _mixed(value: str) -> bool:
    return random_looking(value) and _filled(value)


def _no_stand_in(value: str) -> bool:
    return not placeholder(value)


_ROWS: Final[tuple[tuple[str, str, str], ...]] = (
    # model providers
    ("anthropic-api-key", "sk-ant-", r"[A-Za-z0-9_-]{20,}"),
    ("openrouter-api-key", "sk-or-v1-", r"[0-9a-f]{64}"),
    ("perplexity-api-key", "pplx-", r"[A-Za-z0-9]{40,}"),
    ("groq-api-key", "gsk_", r"[A-Za-z0-9]{48,}"),
    ("xai-api-key", "xai-", r"[A-Za-z0-9]{70,}"),
    ("replicate-token", "r8_", r"[A-Za-z0-9]{37}"),
    ("hugging-face-token", "hf_ api_org_", r"[A-Za-z0-9]{34,}"),
    # clouds
    ("aws-access-key-id", "AKIA ASIA ABIA ACCA", r"[0-9A-Z]{16}"),
    ("aws-bedrock-key", "ABSK", r"[A-Za-z0-9+/]{100,}"),
    ("aws-bedrock-key", "bedrock-api-key-", r"[A-Za-z0-9+/=]{40,}"),
    ("google-api-key", "AIza", r"[0-9A-Za-z_-]{35}"),
    ("google-oauth-secret", "GOCSPX-", r"[A-Za-z0-9_-]{28}"),
    ("google-oauth-token", "ya29.", r"[A-Za-z0-9_-]{30,}"),
    ("google-oauth-token", "1//0", r"[A-Za-z0-9_-]{40,}"),
    ("azure-storage-key", "AccountKey= SharedAccessKey=", r"[A-Za-z0-9+/]{40,}={1,2}"),
    ("azure-sas-signature", "sig=", r"[A-Za-z0-9%+/]{40,}(?:%3[dD]|=)"),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{64}"),
    ("heroku-api-key", "HRKU-", r"[A-Za-z0-9_-]{30,}"),
    ("fly-token", "fo1_", r"[A-Za-z0-9_-]{43}"),
    ("fly-token", "fm1_ fm1a_ fm1r_ fm2_", r"[A-Za-z0-9+/=_-]{80,}"),
    ("cloudflare-origin-ca-key", "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{100,}"),
    ("netlify-token", "nfp_", r"[A-Za-z0-9]{36}"),
    ("supabase-key", "sbp_", r"[0-9a-f]{40}"),
    ("supabase-key", "sb_secret_", r"[A-Za-z0-9_-]{30,}"),
    ("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_.-]{32,}"),
    ("databricks-token", "dapi", r"[0-9a-f]{32}"),
    ("tailscale-key", "tskey-", r"[a-z]+-[A-Za-z0-9]{8,}-[A-Za-z0-9]{16,}"),
    # code hosts
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{36,}"),
    ("github-fine-grained-token", "github_pat_", r"[A-Za-z0-9_]{22,}"),
    (
        "gitlab-token",
        "glpat- gloas- gldt- glrt- glrtr- glcbt- glptt- glft- glsoat- glimt- glagent- glwt- glffct-",
        r"[A-Za-z0-9_.-]{20,}",
    ),
    ("gitlab-token", "GR1348941", r"[A-Za-z0-9_-]{20}"),
    ("bitbucket-token", "ATBB", r"[A-Za-z0-9]{28,}"),
    ("bitbucket-token", "ATCTT3", r"[A-Za-z0-9_=-]{60,}"),
    ("atlassian-token", "ATATT3", r"[A-Za-z0-9_=-]{60,}"),
    # talking
    ("slack-token", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xoxb- xoxe.xoxp-", r"[0-9A-Za-z-]{10,}"),
    ("slack-token", "xapp-", r"[0-9]-[A-Za-z0-9]+-[0-9]+-[0-9a-z]{20,}"),
    ("slack-webhook", "hooks.slack.com/", r"(?:services|workflows|triggers)/[A-Za-z0-9+/_-]{20,}"),
    ("discord-webhook", "discord.com/api/webhooks/ discordapp.com/api/webhooks/", r"[0-9]{15,20}/[A-Za-z0-9_-]{50,}"),
    ("teams-webhook", "webhook.office.com/", r"webhookb2/[0-9A-Za-z@-]{36,}/IncomingWebhook/[0-9A-Za-z]{20,}"),
    ("sendgrid-key", "SG.", r"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    ("mailgun-key", "key-", r"[0-9a-f]{32}"),
    ("brevo-key", "xkeysib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    # money
    ("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[A-Za-z0-9]{20,}"),
    ("webhook-signing-secret", "whsec_", r"[A-Za-z0-9+/=]{24,}"),
    ("square-token", "sq0atp- sq0csp- sq0idp-", r"[A-Za-z0-9_-]{22,}"),
    ("square-token", "EAAA", r"[A-Za-z0-9_-]{60}"),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32}"),
    ("plaid-token", "access-sandbox- access-development- access-production-", r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}"),
    # packages
    ("npm-token", "npm_", r"[A-Za-z0-9]{36}"),
    ("pypi-token", "pypi-AgE", r"[A-Za-z0-9_-]{50,}"),
    ("rubygems-key", "rubygems_", r"[0-9a-f]{48}"),
    ("nuget-key", "oy2", r"[a-z0-9]{43}"),
    ("crates-token", "cio", r"[A-Za-z0-9]{32}"),
    ("docker-token", "dckr_pat_ dckr_oat_", r"[A-Za-z0-9_-]{24,}"),
    # infrastructure
    ("vault-token", "hvs. hvb. hvr.", r"[A-Za-z0-9_-]{24,}"),
    ("pulumi-token", "pul-", r"[0-9a-f]{40}"),
    ("doppler-token", "dp.pt. dp.st. dp.sa. dp.ct. dp.scim. dp.audit.", r"[A-Za-z0-9._-]{40,}"),
    ("1password-token", "ops_eyJ", r"[A-Za-z0-9+/=_-]{100,}"),
    ("1password-secret-key", "A3-", r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    # watching
    ("new-relic-key", "NRAK- NRII- NRJS- NRBR- NRRA-", r"[A-Za-z0-9_-]{19,}"),
    ("grafana-token", "glc_", r"[A-Za-z0-9+/=]{32,}"),
    ("grafana-token", "glsa_", r"[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}"),
    ("grafana-token", "eyJrIjoi", r"[A-Za-z0-9+/=]{60,}"),
    ("sentry-token", "sntrys_eyJ", r"[A-Za-z0-9+/=_]{60,}"),
    ("sentry-token", "sntryu_", r"[0-9a-f]{64}"),
    # work
    ("linear-key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{32,}"),
    ("notion-token", "ntn_", r"[0-9]{11}[A-Za-z0-9]{35}"),
    ("notion-token", "secret_", r"[A-Za-z0-9]{43}"),
    ("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("figma-token", "figd_", r"[A-Za-z0-9_-]{36,}"),
    ("postman-key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    ("circleci-token", "CCIPAT_", r"[A-Za-z0-9]+_[0-9a-f]{40}"),
    ("buildkite-token", "bkua_", r"[0-9a-f]{40}"),
    ("dropbox-token", "sl.", r"[A-Za-z0-9_-]{130,}"),
    # keys as files
    ("age-secret-key", "AGE-SECRET-KEY-1", r"[0-9A-Z]{50,}"),
    ("jwt", "eyJ", r"[A-Za-z0-9_-]{5,}\.eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{8,}"),
    # our own
    ("peerline-token", "kxm_admin_ kxm_project_", r"[A-Za-z0-9_-]{16,}"),
)

# The first bytes of a private key in base64, without the lines around it: PKCS#8, PKCS#1 and PKCS#12; SEC 1 and
# PKCS#8 of elliptic curves; Ed25519; OpenSSH.
_KEYS: Final[tuple[tuple[str, str], ...]] = (
    ("MII", r"[A-Za-z0-9+/]{3}IBA(?:DANBgkqhki|AKC|zCC)[A-Za-z0-9+/=]{20,}"),
    ("MHcCAQEEI", r"[A-Za-z0-9+/=]{20,}"),
    ("MIG MIH", r"[A-Za-z0-9+/]{1,3}AgEAM[BD][A-Za-z0-9+/=]{20,}"),
    ("MC4CAQAwBQYDK2Vw", r"[A-Za-z0-9+/=]{20,}"),
    ("b3BlbnNzaC1rZXktdjE", r"[A-Za-z0-9+/=]{20,}"),
)

SHAPES: Final[tuple[Shape, ...]] = (
    *(Shape(name, tuple(starts.split()), rest, _filled) for name, starts, rest in _ROWS),
    *(Shape("private-key-block", tuple(starts.split()), rest) for starts, rest in _KEYS),
    Shape("putty-private-key", ("PuTTY-User-Key-File-",), "[23]:"),
    # Shapes that words and names can have as well: only where letters and digits are mixed.
    Shape("openai-api-key", ("sk-",), r"(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{32,}", _mixed),
    Shape("twilio-key", ("SK",), r"[0-9a-f]{32}\b", _mixed),
    Shape("vault-token", ("s.",), r"[A-Za-z0-9]{24}\b", _mixed),
    Shape("peerline-key", ("key_",), r"[0-9a-f]{32}\b", _mixed),
    Shape("okta-token", ("SSWS ",), r"[A-Za-z0-9_-]{40,}", _no_stand_in),
)

# Shapes without a beginning of their own; each is looked for only where its word stands.
WITHIN: Final[tuple[tuple[str, Rule], ...]] = (
    ("PRIVATE KEY", Rule("private-key-block", r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")),
    ("Q~", Rule("azure-client-secret", r"\b[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}", _filled)),
    ("AZDO", Rule("azure-devops-token", r"\b[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}", _filled)),
    (".atlasv1.", Rule("terraform-token", r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}", _filled)),
    (":AA", Rule("telegram-token", r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}", _filled)),
    ("-us", Rule("mailchimp-key", r"\b[0-9a-f]{32}-us[0-9]{1,2}", _filled)),
    ("NRAL", Rule("new-relic-key", r"\b[0-9a-f]{36}NRAL", _filled)),
    (".", Rule("discord-token", r"\b[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}", _filled)),
    ("/", Rule("asana-token", r"\b[0-9]/[0-9]{16,20}(?:/[0-9]{16,20})?:[0-9a-f]{32}", _filled)),
)
