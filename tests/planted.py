"""Secrets and names of every kind that may stand in a study: what a line says, and what of it nobody may read.

A line's `needle` is unlike anything of ours, so that finding it in a generated file is finding a leak.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Planted:
    """A line that gives something away, the part that must not be shown, and what kind of thing it is."""

    what: str
    line: str
    needle: str


def _(what: str, line: str, needle: str) -> Planted:
    return Planted(what, line, needle)


TOKENS = [
    _("hub token", "hf_Zq7kPlanted00AbCdEfGhIjKlMn", "Planted00"),
    _("model key", "sk-Planted01abcdefghijklmnop", "Planted01"),
    _("payment", "sk_live_Planted02abcdef", "Planted02"),
    _("forge", "ghp_Planted03abcdefghijklmnop", "Planted03"),
    _("forge, fine", "github_pat_Planted04abcdefghijkl", "Planted04"),
    _("lab", "glpat-Planted05abcdefghij", "Planted05"),
    _("chat", "xoxb-Planted06-abcdefghij", "Planted06"),
    _("cloud", "AKIAPLANTED07ABCDEFG", "PLANTED07"),
    _("maps", "AIzaPlanted08abcdefghijklmnopqrstuvw", "Planted08"),
    _("gpu", "nvapi-Planted09abcdefghijklmn", "Planted09"),
    _("jwt", "eyJhbGciPlanted10.eyJzdWIiPlanted10.sigPlanted10", "Planted10"),
    _("groq", "gsk_Planted11abcdefghijklmn", "Planted11"),
    _("model key, project", "sk-proj-Planted50_abcdefghijk", "Planted50"),
    _("model key, other", "sk-ant-api03-Planted51_abcdefghijk", "Planted51"),
    _("cloud, session", "ASIAPLANTED52ABCDEFG", "PLANTED52"),
    _("runner", "glrt-Planted53abcdefghij", "Planted53"),
    _("chat, app", "xapp-1-Planted54-abcdefghij", "Planted54"),
    _("package, js", "npm_Planted55abcdefghijklmnopqrstuvwxyz", "Planted55"),
    _("package, py", "pypi-Planted56abcdefghijklmnop", "Planted56"),
    _("images", "dckr_pat_Planted57abcdefghij", "Planted57"),
    _("vault", "hvs.Planted58abcdefghijklmn", "Planted58"),
    _("cloud, oauth", "ya29.Planted59abcdefghijklmn", "Planted59"),
    _("mail service", "SG.Planted60abcdefghi.Planted60abcdefghij", "Planted60"),
    _("tracing", "lsv2_pt_Planted61abcdefghij", "Planted61"),
    _("model key, x", "xai-Planted62abcdefghijklm", "Planted62"),
    _("chat, hook", "https://hooks.slack.com/services/T0/B0/Planted63", "Planted63"),
    _("payment, restricted", "rk_live_Planted64abcdef", "Planted64"),
    _("age", "AGE-SECRET-KEY-1PLANTED65QQQQQQQQQQQQQQQQ", "PLANTED65"),
]
"""Known by their own shape, wherever they stand."""
KEYED = [
    _("api_key=''", "api_key='Planted12-secret'", "Planted12"),
    _("--api-key", "--api-key Planted13-secret", "Planted13"),
    _("--hf-token=", "--hf-token=Planted14", "Planted14"),
    _("bearer", "Authorization: Bearer Planted15abcdefghijklmnop", "Planted15"),
    _("password", "password: Planted16", "Planted16"),
    _("cloud, secret", "AWS_SECRET_ACCESS_KEY=Planted17x", "Planted17"),
    _("environment", "HF_TOKEN=Planted18", "Planted18"),
    _("json", '"auth_token": "Planted19"', "Planted19"),
    _("address with a password", "http://ada:Planted20@10.1.2.3:8000/v1", "Planted20"),
    _("cookie", "cookie: a=1; sid=Planted22; b=2", "Planted22"),
    _("several keys", "--api-key Planted66 Planted67", "Planted67"),
    _("list of keys", "api_key=['Planted68', 'Planted69']", "Planted69"),
    _("tuple of keys", "api_key=('Planted70', 'Planted71')", "Planted71"),
    _("engine's environment", "VLLM_API_KEY=Planted72", "Planted72"),
    _("cloud, session token", "AWS_SESSION_TOKEN=Planted73//x+y==", "Planted73"),
    _("cloud, key id", '"AccessKeyId": "Planted74"', "Planted74"),
    _("service account", '"private_key_id": "0fPlanted75", "type": "service_account"', "Planted75"),
    _("storage key", "AccountName=a1;AccountKey=Planted76+b/c==;", "Planted76"),
    _("signed address", "https://x.blob.example.com/c/b?sv=2022&sig=Planted77%2B", "Planted77"),
    _("signed address, other", "https://x.example.com/k?X-Amz-Signature=planted78ab", "planted78"),
    _("registry login", '{"auths": {"reg": {"auth": "UGxhbnRlZDc5OnBhc3M="}}}', "UGxhbnRlZDc5OnBhc3M"),
    _("basic", "Authorization: Basic UGxhbnRlZDgwOnBhc3M=", "UGxhbnRlZDgwOnBhc3M"),
    _("header", "X-Api-Key: Planted81", "Planted81"),
    _("set-cookie", "Set-Cookie: s=Planted82; Path=/", "Planted82"),
    _("query token", "GET /v1/models?token=Planted83 HTTP/1.1", "Planted83"),
    _("query api_key", "GET /v1/models?x=1&api_key=Planted84 HTTP/1.1", "Planted84"),
    _("manifest", '{"name": "HF_TOKEN", "value": "Planted85"}', "Planted85"),
    _("database", "postgresql://ada:Planted86@db:5432/x", "Planted86"),
    _("database, words", "host=db1 user=eve password=Planted87 dbname=x", "Planted87"),
    _("tracker", "WANDB_API_KEY=Planted88", "Planted88"),
    _("any token variable", "MY_SERVICE_TOKEN=Planted89", "Planted89"),
    _("curl", "curl -u ada:Planted90 http://localhost:8000", "Planted90"),
    _("camel case", '"clientSecret": "Planted91"', "Planted91"),
    _("short bearer", "sent Bearer Planted92", "Planted92"),
    _("not closed", "password='Planted93 and more", "Planted93"),
    _("escaped quote", r'{"password": "x\"Planted94"}', "Planted94"),
    _("private key", "-----BEGIN RSA PRIVATE KEY-----Planted21-----END RSA PRIVATE KEY-----", "Planted21"),
    _("private key, cut", "-----BEGIN OPENSSH PRIVATE KEY-----Planted95", "Planted95"),
    _("certificate", "-----BEGIN CERTIFICATE-----Planted96-----END CERTIFICATE-----", "Planted96"),
    _("public key", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAPlanted97 ada@box", "Planted97"),
    _("model key, variable", "OPENAI_KEY=Planted100", "Planted100"),
    _("model key, label", 'openai_key="Planted101"', "Planted101"),
    _("model key, two words", "AZURE_OPENAI_KEY=Planted102", "Planted102"),
    _("token, named", "vault_token: Planted103", "Planted103"),
    _("token, alone", "token: Planted104", "Planted104"),
    _("web token", "jwt=Planted105", "Planted105"),
    _("code", "passcode=Planted106", "Planted106"),
    _("one-time", "otp=Planted107", "Planted107"),
    _("short", "pw=Planted108", "Planted108"),
    _("framework", "secret_key_base=Planted109", "Planted109"),
    _("encoded", "access_token%3DPlanted110", "Planted110"),
    _("header, auth", "X-Auth: Planted111", "Planted111"),
    _("variable and a space", "HF_TOKEN Planted112", "Planted112"),
    _("in a class", "team-OPENAI_KEY=Planted113", "Planted113"),
    _("cookie, variable", "HTTP_COOKIE=Planted114", "Planted114"),
    _("capitals", "PGPASS=Planted115", "Planted115"),
    _("any key", "billing_key: Planted116", "Planted116"),
    _("json, web token", '{"jwt": "Planted117"}', "Planted117"),
]
"""Known by what stands before them."""
NAMES = [
    _("e-mail", "ada.planted23@example.com", "planted23"),
    _("host", "planted24.corp.internal", "planted24"),
    _("IPv4", "10.24.25.26", "10.24.25.26"),
    _("IPv4 with a port", "10.24.25.27:8000", "10.24.25.27"),
    _("IPv6", "fd00:aa::26", "fd00:aa::26"),
    _("IPv6 with a port", "[fd00:aa::28]:8000", "fd00:aa::28"),
    _("hardware address", "02:42:ac:11:00:27", "02:42:ac:11:00:27"),
    _("hardware address, dashes", "02-42-ac-11-00-28", "02-42-ac-11-00-28"),
    _("home", "/home/planted28/x", "planted28"),
    _("home, other system", "/Users/planted33/x", "planted33"),
    _("mount", "/mnt/planted29/models/m", "planted29"),
    _("mount of no known name", "/planted34-nas/models/m", "planted34"),
    _("hostname", "hostname=planted30", "planted30"),
    _("pod", "pod_name=pod-planted31", "planted31"),
    _("pod's own form", "vllm-planted35-7d4b9c5f6-x2x4z", "planted35"),
    _("namespace", 'namespace="planted36-team"', "planted36"),
    _("node", 'kubernetes_node="planted37-gpu-1"', "planted37"),
    _("cloud's host", "ip-10-24-25-38 is up", "ip-10-24-25-38"),
    _("user", "USER=planted39", "planted39"),
    _("home, windows", r"C:\Users\planted32\x", "planted32"),
    _("share", r"on \\planted40-srv\share\x", "planted40"),
    _("bucket", "s3://planted41-bucket/models/m", "planted41"),
    _("bucket, other", "gs://planted42-bucket/models/m", "planted42"),
    _("page of a site", "https://wiki.example.com/planted43/plan", "planted43"),
    _("project", '"project_id": "planted44-prod"', "planted44"),
    _("identifier", "5f3a9c1e-0000-4000-8000-000000000033", "5f3a9c1e-0000-4000-8000-000000000033"),
    _("long number", "id deadbeefdeadbeefdeadbeefdeadbe34", "deadbeefdeadbeefdeadbeefdeadbe34"),
    _("fingerprint", "SHA256:planted45abcdefghijklmnopqrstuvwxyzABCDEFGH", "planted45"),
]
TEXTS = [
    _("prompt, logged", "Received request cmpl-1: prompt: 'Planted46 is ill', params: x", "Planted46"),
    _("prompt, logged bare", "Received request cmpl-1: prompt: Planted47 is ill, params: x", "Planted47"),
    _("output, logged", "Generated response cmpl-1: output: 'Planted48 owes', done", "Planted48"),
    _("messages", '{"messages": [{"role": "user", "content": "Planted49 asks"}]}', "Planted49"),
    _("prompt's tokens", "prompt_token_ids: [7654321, 22, 333]", "7654321"),
    _("picture", "data:image/png;base64,Planted98AAAA", "Planted98"),
]
APART = {
    "HTTP_COOKIE": "Planted120", "GIT_CREDENTIALS": "Planted121", "DB_PASSWD": "Planted122", "JWT": "Planted123",
    "PGPASS": "Planted124", "AWS_ACCESS_KEY_ID": "Planted125", "MY_PASSPHRASE": "Planted126 and more",
    "OPENAI_KEY": "Planted127", "passphrase": "Planted128", "jwt": "Planted129", "vault_token": "Planted130",
    "HOSTNAME": "planted131",
}  # fmt: skip
"""Names and values that a page would show in cells of their own."""
ALL = [*TOKENS, *KEYED, *NAMES, *TEXTS]
PEM = "-----BEGIN PRIVATE KEY-----\nMIIEPlanted99\nPlanted99more\n-----END PRIVATE KEY-----"
"""Over several lines, as in a service account's file."""
