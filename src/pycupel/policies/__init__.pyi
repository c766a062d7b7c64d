from pycupel.policies.document import (
    policy_from_dict as policy_from_dict,
    policy_json_schema as policy_json_schema,
    policy_to_dict as policy_to_dict,
)
from pycupel.policies.files import (
    dump_policy as dump_policy,
    load_policy as load_policy,
    parse_policy as parse_policy,
    save_policy as save_policy,
)
from pycupel.policies.presets import (
    CHAT as CHAT,
    CODE_REVIEW as CODE_REVIEW,
    DEBUGGING as DEBUGGING,
    DOCUMENT_QA as DOCUMENT_QA,
    LONG_RUNNING as LONG_RUNNING,
    PRESETS as PRESETS,
    RAG as RAG,
    TOOL_USE as TOOL_USE,
    PolicyRegistry as PolicyRegistry,
    preset as preset,
)
