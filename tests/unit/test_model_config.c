/* config.json files: the layers by kind that each must give, and the bytes of 10,000 tokens, worked by hand from the
 * model's published shape. One row of the table for each rule of the format. */
#include "tests/support/test.h"
#include "viz/request/model_config.h"

#define BASE "'num_hidden_layers':4,'num_attention_heads':8,'hidden_size':512,'torch_dtype':'bfloat16'"

/* says: "layers x KV heads x d, what they keep", the bytes of 10,000 tokens in all; or "! " and a part of the error. */
static const char *const CASES[] = {
    /* dtype for torch_dtype */
    "{'num_hidden_layers':1,'num_attention_heads':1,'hidden_size':64,'dtype':'float16'} => 1 x 1 x 64; 2560000",
    /* Qwen2: not used though written */
    "{" BASE ",'use_sliding_window':false,'sliding_window':4096,'max_window_layers':2} => 4 x 8 x 64; 81920000",
    /* Qwen2: used, which its class does not by itself */
    "{'model_type':'qwen2'," BASE ",'num_key_value_heads':8,'use_sliding_window':true,'sliding_window':100,"
    "'max_window_layers':2} => 2 x 8 x 64 + 2 x 8 x 64 window 100; 41369600",
    /* Mistral: a window in all */ "{" BASE ",'sliding_window':4096} => 4 x 8 x 64 window 4096; 33554432",
    /* Gemma 3, as published: the class knows the rest */
    "{'model_type':'gemma3','text_config':{'model_type':'gemma3_text','hidden_size':2560,"
    "'num_hidden_layers':34,'sliding_window':1024},'torch_dtype':'bfloat16'} => 5 x 4 x 256 + 29 x 4 x 256 window "
    "1024; 326434816",
    /* Gemma 2: every other layer */
    "{'model_type':'gemma2'," BASE
    ",'head_dim':64,'sliding_window':4096} => 2 x 4 x 64 + 2 x 4 x 64 window 4096; 28868608; remark",
    /* a pattern in letters */
    "{" BASE ",'sliding_window':4096,'sliding_window_pattern':'LLLG'} => 1 x 8 x 64 + 3 x 8 x 64 window 4096; 45645824",
    /* 3 states: 32 heads x 128 x 128 + (2 x 16 x 128 + 32 x 128) x 4, of 2 B */
    /* Qwen3-Next: gated delta nets */
    "{" BASE ",'full_attention_interval':4,'linear_num_key_heads':16,'linear_key_head_dim':128,"
    "'linear_num_value_heads':32,'linear_value_head_dim':128,'linear_conv_kernel_dim':4} => 1 x 8 x 64; 20480000; a "
    "state of linear attention 3342336",
    /* Jamba: a period and an offset */
    "{" BASE ",'attn_layer_period':2,'attn_layer_offset':1} => 2 x 8 x 64; 40960000; remark",
    /* MiniMax: a list of ones */ "{" BASE ",'attn_type_list':[0,0,0,1]} => 1 x 8 x 64; 20480000; remark",
    /* the last of four layers keeps 512 + 64 elements of 2 B */
    /* Kimi: full layers counted from 1 */
    "{" BASE
    ",'kv_lora_rank':512,'qk_rope_head_dim':64,'linear_attn_config':{'full_attn_layers':[4]}} => 1 x latent 576 of "
    "64; 11520000; remark",
    /* GPT-Neo: attention_types */
    "{" BASE
    ",'window_size':256,'attention_types':[[['global','local'],2]]} => 2 x 8 x 64 + 2 x 8 x 64 window 256; 42008576",
    /* chunks by a list */
    "{" BASE ",'attention_chunk_size':4000,'no_rope_layers':[1,1,1,0]} => 1 x 8 x 64 + 3 x 8 x 64 chunk 4000; 32768000",
    /* MLA: 'head_dim' is not that of K, V has its own */
    "{" BASE ",'kv_lora_rank':512,'qk_nope_head_dim':192,'qk_rope_head_dim':64,'v_head_dim':128,"
    "'head_dim':64} => 4 x latent 576 of 192/128; 46080000",
    /* Falcon: one head */
    "{'n_layer':32,'n_head':71,'hidden_size':4544,'multi_query':true,'torch_dtype':'bfloat16'} => 32 x 1 x 64; "
    "81920000",
    /* Falcon: the new decoder */
    "{'num_hidden_layers':60,'num_attention_heads':128,'num_kv_heads':8,'hidden_size':8192,'multi_query':"
    "true,"
    "'new_decoder_architecture':true,'torch_dtype':'bfloat16'} => 60 x 8 x 64; 1228800000",
    /* ChatGLM */
    "{'num_layers':28,'num_attention_heads':32,'hidden_size':4096,'kv_channels':128,"
    "'multi_query_attention':true,'multi_query_group_num':2,'torch_dtype':'float16'} => 28 x 2 x 128; 286720000",
    /* Other sizes in some layers, but not in which */
    "{" BASE ",'attention_other_setting':{'num_attention_groups':2}} => 4 x 8 x 64; 81920000; unused "
    "attention_other_setting",
    /* GPT-2 */
    "{'n_layer':12,'n_head':12,'n_embd':768,'n_positions':1024,'torch_dtype':'float16'} => 12 x 12 x 64; 368640000",
    /* MPT: inside attn_config */
    "{'n_layers':32,'n_heads':32,'d_model':4096,'attn_config':{'kv_n_heads':8},"
    "'torch_dtype':'bfloat16'} => 32 x 8 x 128; 1310720000",
    /* 2 full layers x 2 x 2 x 512 x 2 B x 10,000 + 2 windowed x 2 x 8 x 256 x 2 B x 1,024 */
    /* Gemma 4: other heads where all is seen */
    "{" BASE ",'head_dim':256,'global_head_dim':512,'num_global_key_value_heads':2,'sliding_window':1024,"
    "'layer_types':['sliding_attention','full_attention','sliding_attention','full_attention']} => 2 x 8 x 256 "
    "window 1024 + 2 x 2 x 512; 98697216",
    /* MiMo: other heads in a window */
    "{" BASE ",'num_key_value_heads':4,'head_dim':192,'v_head_dim':128,'swa_num_key_value_heads':8,"
    "'swa_head_dim':192,'swa_v_head_dim':128,'sliding_window':128,'hybrid_layer_pattern':[0,1,1,1]} => 1 x 4 x "
    "192/128 + 3 x 8 x 192/128 window 128; 27566080",
    /* OpenELM: heads by layer */
    "{'num_transformer_layers':3,'num_hidden_layers':3,'num_query_heads':[12,12,16],"
    "'num_kv_heads':[3,3,4],'head_dim':64,'torch_dtype':'float16'} => 2 x 3 x 64 + 1 x 4 x 64; 25600000",
    /* DeciLM: blocks */
    "{" BASE ",'num_key_value_heads':null,'block_configs':[{'attention':{'n_heads_in_group':8}},"
    "{'attention':{'no_op':true}},{'attention':{'n_heads_in_group':4}},"
    "{'attention':{'n_heads_in_group':8}}]} => 2 x 1 x 64 + 1 x 2 x 64; 10240000",
    /* shared layers keep none */ "{" BASE ",'num_kv_shared_layers':3} => 1 x 8 x 64; 20480000; remark",
    /* a model inside a thinker */ "{'thinker_config':{'text_config':{" BASE "}}} => 4 x 8 x 64; 81920000",
    /* a mark before it */ "\xef\xbb\xbf{" BASE "} => 4 x 8 x 64; 81920000",
    /* numbers with a point */
    "{'num_hidden_layers':4.0,'num_attention_heads':8,'hidden_size':512} => 4 x 8 x 64; 81920000; remark",
    /* NaN in a text stays text */
    "{" BASE ",'model_name':'NaN \\' Infinity','x_loss':[NaN,-Infinity],'y_loss':-Infinity} => 4 x 8 x 64; 81920000",
    /* no word of Python's */ "{" BASE ",'x_loss':fatty} => ! line 1: no JSON",
    /* a window that is Infinity */
    "{" BASE ",'sliding_window':Infinity} => ! 'sliding_window' is not a whole number",
    /* Step 3.5: layers of prediction follow, groups by kind */
    "{" BASE ",'num_nextn_predict_layers':1,'num_attention_groups':4,'sliding_window':512,'layer_types':["
    "'full_attention','sliding_attention','sliding_attention','sliding_attention','full_attention'],"
    "'attention_other_setting':{'attention_type':'sliding_attention','num_attention_groups':2}} => 1 x 4 x 64 + 3 x "
    "2 x 64 window 512; 11026432; remark",
    /* 1 KV head of 256 in 8 of 26 layers, 2,048 tokens; 18 states of 2,560 + 2,560 x 3 elements */
    /* RecurrentGemma: attention has the window */
    "{'model_type':'recurrent_gemma','block_types':['recurrent','recurrent','attention'],"
    "'num_hidden_layers':26,'num_attention_heads':10,'num_key_value_heads':1,'head_dim':256,'hidden_size':"
    "2560,"
    "'attention_window_size':2048,'torch_dtype':'bfloat16'} => 8 x 1 x 256 window 2048; 16777216; a recurrent state "
    "368640",
    /* Zamba 2: attention in some layers, a state in all */
    "{'model_type':'zamba2','num_hidden_layers':38,'hidden_size':2048,'num_attention_heads':32,"
    "'num_key_value_heads':32,'attention_head_dim':128,'hybrid_layer_ids':[5,11,17,23,29,35],'torch_dtype':"
    "'bfloat16'} => 6 x 32 x 128; 983040000; remark",
    /* Zamba 2: the width of attention is twice */
    "{'model_type':'zamba2','num_hidden_layers':2,'hidden_size':2560,'num_attention_heads':32,"
    "'layers_block_type':['mamba','hybrid'],'torch_dtype':'bfloat16'} => 1 x 32 x 160; 204800000; remark",
    /* 10 states of 3 x 512 elements */
    /* LFM2: indices of full attention */
    "{'model_type':'lfm2','hidden_size':512,'num_hidden_layers':16,'num_attention_heads':8,"
    "'full_attn_idxs':[2,5,8,10,12,14],'conv_L_cache':3,'torch_dtype':'bfloat16'} => 6 x 8 x 64; 122880000; a short "
    "convolution 30720",
    /* an index beyond the layers */
    "{" BASE ",'full_attn_idxs':[2,5]} => ! 'full_attn_idxs' names layer 5, but there are 4",
    /* LongCat: two attentions a layer */
    "{'model_type':'longcat_flash','num_layers':28,'num_attention_heads':64,'kv_lora_rank':512,"
    "'qk_rope_head_dim':64,'qk_nope_head_dim':128,'v_head_dim':128,'hidden_size':6144,'torch_dtype':"
    "'bfloat16'} => 56 x latent 576 of 128; 645120000",
    /* (4,096 x 128 + (4,096 + 2 x 128) x 4) x 2 B x 48 */
    /* Mamba 2: no attention */
    "{'model_type':'mamba2','num_hidden_layers':48,'hidden_size':2048,'state_size':128,'num_heads':64,"
    "'head_dim':64,'torch_dtype':'bfloat16'} => ; 0; a Mamba state 52002816; no attention",
    /* Mamba, by the names of its authors */
    "{'d_model':2560,'n_layer':64,'vocab_size':50277,'ssm_cfg':{},'rms_norm':true} => ; 0; no attention; remarks",
    /* a state with attention of its own in some layers (mamba_ssm) */
    "{'d_model':512,'n_layer':4,'ssm_cfg':{'layer':'Mamba2'},'attn_layer_idx':[1],"
    "'attn_cfg':{'num_heads':8,'num_heads_kv':2,'head_dim':64},'torch_dtype':'bfloat16'} => 1 x 2 x 64; 5120000; "
    "remark",
    /* flash-linear-attention: an object for its attention */
    "{'model_type':'gla','hidden_size':512,'num_hidden_layers':4,'num_heads':4,'attn':{'layers':[1,3],"
    "'num_heads':8,'num_kv_heads':4,'window_size':128},'torch_dtype':'bfloat16'} => 2 x 4 x 64 window 128; 262144; "
    "remark",
    /* RWKV */
    "{'model_type':'rwkv6','num_hidden_layers':4,'hidden_size':512,'attention_hidden_size':512,'head_"
    "size':64} => ; 0; no attention; remarks",
    /* decoder layers, not the encoder's 32; 4 x 2 x 20 x 64 x 2 B x 10,000, and 1,500 tokens of the encoder */
    /* Whisper: the decoder's layers */
    "{'model_type':'whisper','d_model':1280,'encoder_layers':32,'decoder_layers':4,'decoder_attention_"
    "heads':20,"
    "'encoder_attention_heads':20,'num_hidden_layers':32,'max_source_positions':1500,'max_target_positions':"
    "448,"
    "'torch_dtype':'float16','is_encoder_decoder':true} => 4 x 20 x 64; 204800000; K and V of the encoder 30720000",
    /* T5: heads of d_kv */
    "{'model_type':'t5','d_model':1024,'d_kv':64,'num_layers':24,'num_decoder_layers':24,'num_heads':32,"
    "'is_encoder_decoder':true,'torch_dtype':'bfloat16','relative_attention_num_buckets':32} => 24 x 32 x 64; "
    "1966080000; remark",
    /* BERT as a decoder */
    "{'model_type':'bert','is_decoder':true,'hidden_size':768,'num_hidden_layers':12,'num_attention_"
    "heads':12,'dtype':'float16'} => 12 x 12 x 64; 368640000",
    /* a denoiser */
    "{'_class_name':'DiTTransformer2DModel','num_layers':28,'num_attention_heads':16,'attention_head_dim':"
    "72} => ; 0; an encoder k; remark",
    /* 32 of 40 layers: 128 KiB a token; 8 keep 4 tiles of 40 x 40 + 1 tokens of 4,096 B */
    /* Llama 3.2 Vision: cross attention holds the image */
    "{'model_type':'mllama','text_config':{'hidden_size':4096,'num_hidden_layers':40,'num_attention_"
    "heads':32,"
    "'num_key_value_heads':8,'cross_attention_layers':[3,8,13,18,23,28,33,38],'torch_dtype':'bfloat16'},"
    "'vision_config':{'image_size':560,'patch_size':14,'max_num_tiles':4,'num_hidden_layers':32}} => 32 x 8 x 128; "
    "1310720000; K and V of one image 209846272; remark",
    /* a key of next month */
    "{" BASE ",'kv_share_every':2,'rope_theta':1e6} => 4 x 8 x 64; 81920000; unused kv_share_every",
    /* two names that differ */
    "{" BASE ",'num_key_value_heads':4,'num_kv_heads':2} => 4 x 4 x 64; 40960000; unused num_kv_heads",
    /* what is switched off is not named */
    "{" BASE ",'kv_share':false,'cache_groups':0,'attn_sinks':null} => 4 x 8 x 64; 81920000",
    /* a list under a new name */
    "{" BASE ",'sliding_window':100,'global_layer_ids':[3]} => 4 x 8 x 64 window 100; 819200; unused global_layer_ids",
    /* a period under a new name */
    "{" BASE ",'softmax_attn_every':2} => 4 x 8 x 64; 81920000; unused softmax_attn_every",
    /* layers of Mamba by indices */
    "{" BASE ",'mamba_layer_ids':[0,1,2]} => 4 x 8 x 64; 81920000; unused mamba_layer_ids",
    /* Ring-linear: groups of layers */ "{" BASE ",'layer_group_size':3} => 2 x 8 x 64; 40960000; remark",
    /* Hunyuan: every second layer shares */
    "{" BASE ",'use_cla':true,'cla_share_factor':2} => 2 x 8 x 64; 40960000; remark",
    /* Hymba: groups that reuse */
    "{" BASE
    ",'sliding_window':100,'global_attn_idx':[0],'kv_reuse_group':[[1,2]]} => 1 x 8 x 64 + 2 x 8 x 64 window 100; "
    "20889600; remark",
    /* DeepSeek-VL2: a latent that is not used */
    "{'language_config':{" BASE ",'use_mla':false,'kv_lora_rank':512}} => 4 x 8 x 64; 81920000",
    /* a cache of fp8 */
    "{" BASE ",'quantization_config':{'quant_method':'compressed-tensors','kv_cache_scheme':{'num_bits':8,"
    "'type':'float'}}} => 4 x 8 x 64; 40960000; remark",
    /* LLaVA: all of it from the class */
    "{'text_config':{'model_type':'llama','torch_dtype':'float16'},'vision_config':{'num_hidden_layers':"
    "24}} => 32 x 32 x 128; 5242880000; remark",
    /* a model under a name of its own */
    "{'my_llm':{" BASE "},'my_vision':{'num_hidden_layers':2}} => 4 x 8 x 64; 81920000",
    /* two models */ "{'a':{" BASE "},'b':{" BASE "}} => ! 'a' and 'b' both describe layers",
    /* BLOOM */
    "{'n_layer':4,'num_attention_heads':8,'n_embed':512,'torch_dtype':'bfloat16'} => 4 x 8 x 64; 81920000",
    /* MPT: one head in a word */
    "{'n_layers':4,'n_heads':8,'d_model':512,'attn_config':{'attn_type':'multiquery_attention'},'torch_"
    "dtype':'bfloat16'} => 4 x 1 x 64; 10240000",
    /* the key that is wrong, not one that was read after it */
    "{" BASE ",'attn_type':'x','num_key_value_heads':'two'} => ! 'num_key_value_heads' is not a whole number",
    /* KV heads that do not divide */ "{" BASE ",'num_key_value_heads':3} => ! 3 K and V heads do not divide 8",
    /* a letter that is not known */
    "{" BASE ",'hybrid_override_pattern':'M*?-'} => ! 'hybrid_override_pattern' has the letter '?'",
    /* Llama 4: 12 of 48 layers see all; the others hold 10,000 - 8,192 = 1,808: (120,000 + 65,088) x 4,096 B */
    /* Llama 4: chunks */
    "{'model_type':'llama4','text_config':{'model_type':'llama4_text','hidden_size':5120,"
    "'num_hidden_layers':48,'num_attention_heads':40,'num_key_value_heads':8,'head_dim':128,"
    "'attention_chunk_size':8192,'no_rope_layers':[]},'torch_dtype':'bfloat16'} => 12 x 8 x 128 + 36 x 8 x 128 chunk "
    "8192; 758120448",
    /* chunks in words: 3 x 1,808 tokens */
    "{" BASE ",'attention_chunk_size':8192,'layer_types':['chunked_attention','chunked_attention','chunked_attention',"
    "'full_attention']} => 1 x 8 x 64 + 3 x 8 x 64 chunk 8192; 31588352",
    /* Nemotron-H: an MLP keeps nothing */
    "{" BASE ",'hybrid_override_pattern':'*-E*'} => 2 x 8 x 64; 40960000",
    /* Gemma 2, all of it from the class: 13 x 10,000 and 13 x 4,096 tokens of 4,096 B */
    "{'model_type':'gemma2','torch_dtype':'bfloat16'} => 13 x 4 x 256 + 13 x 4 x 256 window 4096; 750583808; remarks",
    /* a latent at the root, which is not the text model's */
    "{'kv_lora_rank':512,'text_config':{" BASE "}} => 4 x 8 x 64; 81920000",
    /* an encoder */
    "{'model_type':'bert','hidden_size':768,'num_hidden_layers':12,'num_attention_heads':12,'dtype':"
    "'float16'} => ; 0; an encoder k",
    /* a model of images */
    "{'hidden_size':768,'num_hidden_layers':12,'num_attention_heads':12,'image_size':224,'patch_size':16,"
    "'dtype':'float16'} => ; 0; an encoder k",
    /* the last of three, and one more */
    "{" BASE ",'sliding_window':4096,'sliding_window_pattern':'LGG'} => 2 x 8 x 64 + 2 x 8 x 64 window 4096; 57737216",
    /* the last of five is not among four */
    "{" BASE ",'sliding_window':4096,'sliding_window_pattern':5} => 4 x 8 x 64 window 4096; 33554432",
    /* a pattern without a window */ "{" BASE ",'sliding_window_pattern':3} => 4 x 8 x 64; 81920000",
    /* cross attention at an interval is not guessed */
    "{" BASE ",'cross_layer_interval':4} => 4 x 8 x 64; 81920000; unused cross_layer_interval",
    /* tokens of memory */ "{" BASE ",'num_memory_tokens':128} => 4 x 8 x 64; 81920000; unused num_memory_tokens",
    /* a window list that repeats */
    "{" BASE ",'sliding_window':[100,null]} => 2 x 8 x 64 + 2 x 8 x 64 window 100; 41369600; remark",
    /* refused */
    /* no JSON */ "{'num_hidden_layers':4,\n => ! line 2: no JSON",
    /* a list */ "[1] => ! a list, where config.json is an object",
    /* no layers */ "{'num_attention_heads':8} => ! 'num_hidden_layers'",
    /* no heads */ "{'num_hidden_layers':4,'hidden_size':512} => ! 'num_attention_heads'",
    /* no head size */
    "{'num_hidden_layers':4,'num_attention_heads':7,'hidden_size':512} => ! no size of a head",
    /* a word for a number */ "{'num_hidden_layers':'four'} => ! 'num_hidden_layers' is not a whole number",
    /* too many layers */
    "{'num_hidden_layers':1000000} => ! 'num_hidden_layers' is not a whole number from 1 to 4096",
    /* types for other layers */
    "{" BASE ",'layer_types':['full_attention']} => ! 'layer_types' has 1 entries for 4 layers",
    /* a kind that is not known */
    "{" BASE
    ",'layer_types':['full_attention','psychic','full_attention','full_attention']} => ! 'layer_types'[1] is 'psychic'",
    /* nor in a run */
    "{" BASE ",'attention_types':[[['global','psychic'],2]]} => ! 'attention_types'[1] is 'psychic'",
    /* a window of no size */
    "{" BASE ",'layer_types':['full_attention','sliding_attention','full_attention',"
    "'full_attention']} => ! layer 1 has a sliding window, but 'sliding_window'",
    /* no attention at all */ "{" BASE ",'hybrid_override_pattern':'MMMM'} => ; 0; none of the ; remark",
    /* more KV heads than heads */ "{" BASE ",'num_key_value_heads':16} => ! 16 K and V heads are more than 8",
    /* a family that is not known */ "{'model_type':'brand_new'," BASE "} => ! 'brand_new' is a family of models",
    /* a family's next version */ "{'model_type':'deepseek_v4'," BASE "} => ! 'deepseek_v4' is a family",
    /* another model of a family */ "{'model_type':'llama_bidirectional_next'," BASE "} => 4 x 8 x 64; 81920000",
    /* what a class has is not another's */
    "{'model_type':'llama_bidirectional_next','hidden_size':512} => ! no number of layers",
    /* a ratio of each layer */
    "{" BASE ",'compress_ratios':[0,0,4,128]} => 4 x 8 x 64; 81920000; unused compress_ratios",
    /* a type of the future */
    "{'num_hidden_layers':4,'num_attention_heads':8,'hidden_size':512,'torch_dtype':'posit8'} => ! 'torch_dtype' is "
    "'posit8'",
};

static void describe(const KvModel *model, char *to, size_t size) {
  const KvCache cache = kvmodel_cache(model);
  KvGroup groups[KVCACHE_GROUPS_MAX];
  const int n = kvcache_groups(&cache, groups);
  *to = '\0';
#define PUT(...) snprintf(to + strlen(to), size - strlen(to), __VA_ARGS__)
  for (int g = 0; g < n; g++) {
    PUT("%s%lld x ", g ? " + " : "", (long long)groups[g].layers);
    if (groups[g].latent)
      PUT(model->d_v ? "latent %lld of %lld/%lld" : "latent %lld of %lld", (long long)groups[g].latent,
          (long long)model->d, (long long)model->d_v);
    else
      PUT("%lld x %lld", (long long)groups[g].kv_heads, (long long)groups[g].d);
    if (groups[g].d_v) PUT("/%lld", (long long)groups[g].d_v);
    if (groups[g].window) PUT(groups[g].chunked ? " chunk %lld" : " window %lld", (long long)groups[g].window);
  }
  PUT("; %llu", (unsigned long long)kvcache_seek(&cache, 10000).bytes);
  for (int i = 0; i < model->n_fixed; i++)
    PUT("; %s %lld", model->fixed[i].what, (long long)(model->fixed[i].layers * model->fixed[i].bytes));
  if (*model->no_cache) PUT("; %.12s", model->no_cache);
  if (*model->unused) PUT("; unused %s", model->unused);
  if (model->n_remarks) PUT("; %s", model->n_remarks > 1 ? "remarks" : "remark");
}

TEST(test_table) {
  int n_wrong = 0;
  EACH_SAYS (row, CASES) {
    KvModel model;
    char said[512];
    const char *json = test_quoted(row.text, '\'');
    const Status status = model_config_parse(ALL_OF(json), "dir/my model.json", &model, fresh_error());
    if (status == STATUS_OK)
      describe(&model, said, sizeof said);
    else
      snprintf(said, sizeof said, "! %s", test_error.message);
    const char *wanted = row.says;
    if (*wanted == '!' ? *said == '!' && strstr(said, wanted + 2) != NULL : !strcmp(said, wanted)) continue;
    print_error("%s:\n  wanted %s\n  said   %s\n", row.text, wanted, said);
    n_wrong++;
  }
  assert_int_equal(n_wrong, 0);
}

/* A chunk holds what came since its beginning: full, then one. */
TEST(test_chunk_grows_and_empties) {
  const KvGroup chunk = {.layers = 1, .kv_heads = 1, .d = 1, .window = 4, .chunked = true};
  const int64_t held[] = {0, 1, 2, 3, 4, 1, 2, 3, 4, 1};
  for (int64_t n = 0; n < 10; n++) assert_int_equal(kvcache_group_tokens(&chunk, n), held[n]);
}

/* Step by step as at once, with every kind of layer together. */
TEST(test_growth_of_many_kinds) {
  KvCache cache = {.layers = 3, .kv_heads = 2, .d = 8, .window = 5, .window_layers = 1, .page_tokens = 4, .n_more = 2};
  cache.more[0] = (KvGroup){.layers = 2, .kv_heads = 1, .d = 16, .d_v = 4, .window = 6, .chunked = true};
  cache.more[1] = (KvGroup){.layers = 1, .kv_heads = 4, .d = 2};
  must(kvcache_complete(&cache, NULL));
  KvCache large = cache;
  large.layers = KVCACHE_MAX_LAYERS;
  must_refuse(kvcache_complete(&large, fresh_error()), STATUS_BAD_REQUEST, "layers is");
  KvState state_now = {0};
  for (int64_t n = 1; n < 40; n++) {
    kvcache_append(&cache, &state_now);
    /* slowly: each token of each layer, kept or not */
    uint64_t bytes = 0;
    for (int64_t t = 0; t < n; t++) {
      bytes += 2 * 64 + (n - t <= 5 ? 64u : 0u);                 /* 2 x 2 heads x 8 x 2 B */
      bytes += t >= (n - 1) / 6 * 6 ? 2 * 1 * (16 + 4) * 2u : 0; /* of the chunk that token n - 1 is in */
      bytes += 2 * 4 * 2 * 2;
    }
    assert_int_equal((uint64_t)state_now.bytes, bytes);
    assert_int_equal((uint64_t)kvcache_seek(&cache, n).page_bytes, (uint64_t)state_now.page_bytes);
    assert_true(state_now.page_bytes >= state_now.bytes);
    assert_int_equal(state_now.window_pages, 2 * ((n - 1) / 4 + 1) - (n < 5 ? 0 : n - 5) / 4 - (n - 1) / 6 * 6 / 4);
  }
}

/* Our own files say the same in keys. */
TEST(test_groups_in_a_description) {
  const char *text =
      "name = mine\nlayers = 1\nheads = 8\nkv_heads = 8\nhead_dim = 64\nmax_tokens = 4096\ndtype = bf16\n"
      "group2_layers = 3\ngroup2_chunk = 4000\ngroup3_layers = 2\ngroup3_kv_heads = 4\n"
      "group3_head_dim = 192\ngroup3_value_dim = 128\ngroup3_window = 100\n";
  KvModel model;
  char said[512];
  must(kvmodel_parse(ALL_OF(text), "mine", &model, fresh_error()));
  describe(&model, said, sizeof said);
  /* 20,480,000 + 3 x 2,000 x 2,048 + 2 x 100 x 4 x 320 x 2 */
  assert_string_equal(said, "1 x 8 x 64 + 3 x 8 x 64 chunk 4000 + 2 x 4 x 192/128 window 100; 33280000");
  const char *bad = "name = mine\nlayers = 1\nheads = 8\nkv_heads = 8\nhead_dim = 64\nmax_tokens = 4096\ndtype = bf16\n"
                    "group3_window = 100\n";
  must_refuse(kvmodel_parse(ALL_OF(bad), "mine", &model, fresh_error()), STATUS_BAD_FILE, "group3_layers is not");
}
